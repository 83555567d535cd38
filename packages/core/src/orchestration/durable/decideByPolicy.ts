import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { Policies } from '../../state/ThreadStore.ts';
import type { HitlSessionKind } from '../types.ts';
import type { EngineStore } from './EngineStore.ts';

/** Who answers a gate of the pipeline: declared when a run starts, part of its record. */
export interface GatePolicies {
  readonly design?: GatePolicy;
  readonly dag?: GatePolicy;
}

export type GatePolicy = 'human' | 'auto';

const GATE_NAMES: Partial<Record<HitlSessionKind, keyof GatePolicies>> = {
  design_approval: 'design',
  dag_approval: 'dag',
};

/** Approves the gates a declared policy covers. Returns whether it decided anything. */
export function decideByPolicy(
  open: readonly HitlSession[],
  policies: Policies,
  store: EngineStore,
): boolean {
  const gates = (policies['gates'] ?? {}) as GatePolicies;
  const covered = open.filter(({ kind }) => gates[GATE_NAMES[kind] as keyof GatePolicies] === 'auto');
  for (const { id, kind, artifactHash } of covered) {
    store.manager.decide(id, {
      artifactHash: artifactHash ?? '',
      answer: { approved: true },
      by: { kind: 'policy', id: `gates.${GATE_NAMES[kind]}=auto` },
    });
  }
  return covered.length > 0;
}

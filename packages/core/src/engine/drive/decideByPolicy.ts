import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { Policies } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { isDeclaredAuto } from '../gates/principals.ts';

/** Who answers a gate of the pipeline: declared when a run starts, part of its record. */
export interface GatePolicies {
  readonly design?: GatePolicy;
  readonly dag?: GatePolicy;
  /** Of code, where the run has it reviewed. */
  readonly review?: GatePolicy;
}

export type GatePolicy = 'human' | 'auto';

/** Approves the gates a declared policy covers. Returns whether it decided anything. */
export function decideByPolicy(
  open: readonly HitlSession[],
  policies: Policies,
  store: EngineStore,
): boolean {
  const covered = open.filter(({ kind }) => isDeclaredAuto(policies, store.rules[kind]));
  for (const { id, kind, artifactHash } of covered) {
    store.manager.decide(id, {
      artifactHash: artifactHash ?? '',
      answer: { approved: true },
      by: { kind: 'policy', id: `${kind}=auto` },
    });
  }
  return covered.length > 0;
}

import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { Policies } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { declaredPolicy } from '../gates/approvals.ts';
import { allowsPlainYes } from '../gates/DeclaredGate.ts';

/** Who answers a gate of the pipeline: declared when a run starts, part of its record. */
export interface GatePolicies {
  readonly design?: GatePolicy;
  readonly dag?: GatePolicy;
  /** Of code, where the run has it reviewed. */
  readonly review?: GatePolicy;
}

/** `auto`: approves every proposal. `quick`: filled in by the engine for small work, and approved. */
export type GatePolicy = 'human' | 'auto' | 'quick';

/** Approves the gates a declared policy covers. Returns whether it decided anything. */
export function decideByPolicy(
  open: readonly HitlSession[],
  policies: Policies,
  store: EngineStore,
): boolean {
  let decided = false;
  for (const { id, kind, artifactHash, question } of open) {
    if (!allowsPlainYes({ question })) continue;
    const policy = declaredPolicy(policies, store.rules[kind]);
    if (policy === null) continue;
    store.manager.decide(id, {
      artifactHash: artifactHash ?? '',
      answer: { approved: true },
      by: { kind: 'policy', id: policy === 'auto' ? `${kind}=auto` : policy },
    });
    decided = true;
  }
  return decided;
}

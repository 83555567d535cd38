import { isDevsError } from '../../errors/DevsError.ts';
import type { ThreadStatus } from '../../state/threads/threadRecords.ts';
import { graphChanges, recordedShape } from '../graph/graphShape.ts';
import { planTake, type RefusalReason, type TakingEngine } from './takeGraph.ts';

/** A run that has not ended. */
interface CheckedRun {
  readonly id: string;
  readonly status: ThreadStatus;
  /** Every difference between its graph and this one, for people. */
  readonly changes: readonly string[];
}

export interface RefusedUpgrade extends CheckedRun {
  readonly reason: RefusalReason;
  /** For people. */
  readonly why: string;
}

/** The runs that have not ended, on this graph; oldest first. */
export interface UpgradeCheck {
  /** Runs that are on this graph. */
  readonly unchanged: number;
  /** Runs that continue on it: renamed and removed names are moved when they are next executed. */
  readonly taken: readonly CheckedRun[];
  /** Runs that it refuses with `GRAPH_CHANGED`. */
  readonly refused: readonly RefusedUpgrade[];
  /** Ids of runs of another graph: this one lacks all their nodes. */
  readonly others: readonly string[];
}

/** One run on this graph. */
export type UpgradeLook =
  | { readonly is: 'unchanged' }
  | ({ readonly is: 'taken' } & CheckedRun)
  | ({ readonly is: 'refused' } & RefusedUpgrade);

/** As the next drive of the run decides it, without a write. */
export async function checkRun(id: string, engine: TakingEngine): Promise<UpgradeLook> {
  const thread = engine.store.threads.require(id);
  const { status } = thread;
  try {
    const plan = await planTake(thread, engine);
    return plan === null ? { is: 'unchanged' } : { is: 'taken', id, status, changes: plan.changes };
  } catch (error) {
    // The declaration of a gate refuses it, such as approvals without a known initiator.
    if (!isDevsError(error, 'GRAPH_CHANGED') && !isDevsError(error, 'INVALID_INPUT')) throw error;
    const { reason = 'gate_changed' } = error.context as { readonly reason?: RefusalReason };
    const changes = graphChanges(recordedShape(thread), engine.shape);
    return { is: 'refused', id, status, changes, reason, why: error.message };
  }
}

/** Adds up looks, in their order. */
export function upgradeCheckOf(looks: readonly UpgradeLook[]): UpgradeCheck {
  const of = <Is extends UpgradeLook['is']>(is: Is) =>
    looks.filter((look): look is Extract<UpgradeLook, { readonly is: Is }> => look.is === is);
  const refused = of('refused');
  return {
    unchanged: of('unchanged').length,
    taken: of('taken').map(({ is: _, ...run }) => run),
    refused: refused.filter(({ reason }) => reason !== 'other_graph').map(({ is: _, ...run }) => run),
    others: refused.filter(({ reason }) => reason === 'other_graph').map(({ id }) => id),
  };
}

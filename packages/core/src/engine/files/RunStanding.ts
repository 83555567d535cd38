import type { ThreadStatus } from '../../state/threadRecords.ts';
import type { OpenedApp } from '../AppPlan.ts';
import type { Gate } from '../Gate.ts';
import { outputOf } from '../readValues.ts';
import { standingOf } from './standing.ts';

/** Status of a run that another process executes. */
export interface RunStanding<Output> {
  readonly status: ThreadStatus;
  /** Why it ended or waits, for people. */
  readonly reason: string | null;
  /** Its open gates. */
  readonly gates: readonly Gate[];
  /** Values of the output schema, as of `run`; `null` before the first checkpoint. */
  readonly values: Output | null;
  /**
   * Next automatic wake-up, in milliseconds since the Unix epoch; absent if the run waits for a decision, a signal or a
   * command.
   */
  readonly until?: number;
  /** Key of its current turn; absent if it has none. */
  readonly turn?: string;
}

/** Read from the run's file. */
export async function readStanding<Output, Graph, State, Update>(
  id: string,
  { app }: OpenedApp<Graph, State, Update>,
): Promise<RunStanding<Output>> {
  const { status, reason, until } = standingOf(id, app.store);
  const turn = app.store.inputs.latest(id)?.key ?? null;
  return {
    ...{ status, reason },
    gates: await app.gates(id),
    values: outputOf(app.graph, await app.values(id)),
    ...(until !== null && { until }),
    ...(turn !== null && { turn }),
  };
}

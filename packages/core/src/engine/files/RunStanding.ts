import type { ThreadStatus } from '../../state/threadRecords.ts';
import type { OpenedApp } from '../AppPlan.ts';
import { internalsOf } from '../appInternals.ts';
import type { Gate } from '../Gate.ts';
import { outputOf } from '../readValues.ts';
import { standingOf } from './standing.ts';

/** Where a run stands that others drive. */
export interface RunStanding<Output> {
  readonly status: ThreadStatus;
  /** Why it ended or waits, for people. */
  readonly reason: string | null;
  /** Its open questions. */
  readonly gates: readonly Gate[];
  /** What the graph's output schema has, as of `run`; `null` before the first checkpoint. */
  readonly values: Output | null;
  /** When it goes on by itself, in milliseconds since the Unix epoch; absent where only somebody else can have it go on. */
  readonly until?: number;
  /** Key of the turn that it stands in; absent where it has none. */
  readonly turn?: string;
}

/** Read from the run's file. */
export async function readStanding<Output, Graph, State, Update>(
  id: string,
  { app }: OpenedApp<Graph, State, Update>,
): Promise<RunStanding<Output>> {
  const { status, reason, until } = standingOf(id, internalsOf(app).store);
  const turn = internalsOf(app).store.inputs.latest(id)?.key ?? null;
  return {
    ...{ status, reason },
    gates: await app.gates(id),
    values: outputOf(app.graph, await app.values(id)),
    ...(until !== null && { until }),
    ...(turn !== null && { turn }),
  };
}

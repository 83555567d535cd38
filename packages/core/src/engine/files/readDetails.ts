import type { OpenedApp } from '../AppPlan.ts';
import type { RunDetails } from '../RunResult.ts';
import { outputOf } from '../readValues.ts';
import { infoOf } from '../runs/listRuns.ts';
import type { LookedAtRun } from '../runs/Runs.ts';
import { standingOf } from './standing.ts';

/** Read from the run's file. */
export async function readDetails<Output, Graph, State, Update>(
  id: string,
  { app }: OpenedApp<Graph, State, Update>,
  { isDriven }: LookedAtRun,
): Promise<RunDetails<Output>> {
  const { until } = standingOf(id, app.store);
  const turn = app.store.inputs.latest(id)?.key ?? null;
  return {
    ...infoOf(app.store.threads.require(id), isDriven),
    gates: await app.gates(id),
    values: outputOf(app.graph, await app.values(id)),
    ...(until !== null && { until }),
    ...(turn !== null && { turn }),
  };
}

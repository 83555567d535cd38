import type { AppInstance } from '../AppFactory.ts';
import { internalsOf } from '../appInternals.ts';
import { outputOf } from '../drive/readState.ts';
import type { RunDetails } from '../RunResult.ts';
import { infoOf } from '../runs/listRuns.ts';
import type { RunFileView } from '../runs/Runs.ts';
import { releaseOf } from './runIndex.ts';

/** Read from the run's file. */
export async function readDetails<Output, Graph, State, Update>(
  id: string,
  { app }: AppInstance<Graph, State, Update>,
  { isDriven }: RunFileView,
): Promise<RunDetails<Output>> {
  const { store } = internalsOf(app);
  const { until } = releaseOf(id, store);
  const turn = store.inputs.latest(id)?.key ?? null;
  return {
    ...infoOf(store.threads.require(id), isDriven),
    gates: await app.gates(id),
    values: outputOf(app.graph, await app.values(id)),
    ...(until !== null && { until }),
    ...(turn !== null && { turn }),
  };
}

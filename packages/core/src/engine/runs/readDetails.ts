import type { RunDetails } from '../drive/RunResult.ts';
import { outputOf } from '../drive/readState.ts';
import type { EngineStore } from '../EngineStore.ts';
import { gatesOf } from '../gates/Gate.ts';
import { infoOf } from './listRuns.ts';
import { releaseOf } from './runIndex.ts';

/** A graph over an open file. */
export interface ReadableFile {
  readonly graph: unknown;
  readonly store: EngineStore;
  /** At the latest checkpoint. */
  values(id: string): Promise<unknown>;
  isDriven(id: string): boolean;
}

/** Read from the run's file. */
export async function readDetails<Output>(id: string, file: ReadableFile): Promise<RunDetails<Output>> {
  const { store } = file;
  const { until } = releaseOf(id, store);
  const turn = store.inputs.latest(id)?.key ?? null;
  return {
    ...infoOf(store.threads.require(id), file.isDriven(id)),
    gates: gatesOf(id, store),
    values: outputOf(file.graph, await file.values(id)),
    ...(until !== null && { until }),
    ...(turn !== null && { turn }),
  };
}

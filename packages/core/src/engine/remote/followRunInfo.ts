import type { AppInstance } from '../AppFactory.ts';
import type { RunDetails } from '../RunResult.ts';
import type { RunFileView } from '../runs/Runs.ts';
import type { FollowedRun } from './FollowedRun.ts';
import { applySentSignals } from './RunAccess.ts';
import { readDetails } from './readDetails.ts';

/** Until it stands elsewhere (`null`), or so many milliseconds. */
export type Waits<Output> = (standing: RunDetails<Output>) => 'done' | number | null;

/** Where a run stands once it is `done`, or `signal` is aborted; it is followed no more then. */
export async function followRunInfo<Output, Graph, State, Update>(
  id: string,
  followed: FollowedRun<Graph, State, Update>,
  { signal, waits }: { readonly signal: AbortSignal | undefined; readonly waits: Waits<Output> },
): Promise<RunDetails<Output>> {
  const read = async (opened: AppInstance<Graph, State, Update>, looked: RunFileView) => {
    await applySentSignals(id, opened, looked);
    return readDetails<Output, Graph, State, Update>(id, opened, looked);
  };
  try {
    let standing: RunDetails<Output> | null = null;
    for (;;) {
      standing = (await followed.look(read)) ?? standing;
      if (standing === null) continue;
      const wait = waits(standing);
      if (wait === 'done' || signal?.aborted === true) return standing;
      await followed.next(signal, wait ?? undefined);
    }
  } finally {
    followed.close();
  }
}

import type { OpenedApp } from '../AppPlan.ts';
import type { LookedAtRun } from '../runs/Runs.ts';
import type { FollowedRun } from './FollowedRun.ts';
import { takeTold } from './RunAccess.ts';
import { type RunStanding, readStanding } from './RunStanding.ts';

/** Until it stands elsewhere (`null`), or so many milliseconds. */
export type Waits<Output> = (standing: RunStanding<Output>) => 'done' | number | null;

/** Where a run stands once it is `done`, or `signal` is aborted; it is followed no more then. */
export async function followStanding<Output, Graph, State, Update>(
  id: string,
  followed: FollowedRun<Graph, State, Update>,
  { signal, waits }: { readonly signal: AbortSignal | undefined; readonly waits: Waits<Output> },
): Promise<RunStanding<Output>> {
  const read = async (opened: OpenedApp<Graph, State, Update>, looked: LookedAtRun) => {
    await takeTold(id, opened, looked);
    return readStanding<Output, Graph, State, Update>(id, opened);
  };
  try {
    let standing: RunStanding<Output> | null = null;
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

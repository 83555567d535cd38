import type { RunDetails } from '../drive/RunResult.ts';
import type { FollowedFile } from './FollowedRun.ts';
import { type ReadableFile, readDetails } from './readDetails.ts';

/** Until it stands elsewhere (`null`), or so many milliseconds. */
export type Waits<Output> = (standing: RunDetails<Output>) => 'done' | number | null;

/** Where a run stands once it is `done`, or `signal` is aborted; it is followed no more then. */
export async function followRunInfo<Output>(
  id: string,
  followed: FollowedFile<ReadableFile>,
  { signal, waits }: { readonly signal: AbortSignal | undefined; readonly waits: Waits<Output> },
): Promise<RunDetails<Output>> {
  try {
    let standing: RunDetails<Output> | null = null;
    for (;;) {
      standing = (await followed.look((file) => readDetails<Output>(id, file))) ?? standing;
      if (standing === null) continue;
      const wait = waits(standing);
      if (wait === 'done' || signal?.aborted === true) return standing;
      await followed.next(signal, wait ?? undefined);
    }
  } finally {
    followed.close();
  }
}

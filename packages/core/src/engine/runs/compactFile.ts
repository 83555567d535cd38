import { setImmediate } from 'node:timers/promises';
import { assertWait, CLEAR_LOG_MS, clearLog } from '../../db/clearLog.ts';
import { fileUse, giveBackPages, ifFree, isGradual, rewriteFile } from '../../db/rewriteFile.ts';
import type { StateFile } from '../../state/StateFile.ts';

/** Options of `compact`. */
export interface CompactOptions {
  /**
   * How long it works, in milliseconds. A file that takes longer to rewrite is left as it is. `Infinity`: until it is done.
   * @defaultValue 1,000
   */
  readonly maxMs?: number;
  /** How long it waits for other processes, in milliseconds. @defaultValue 5,000 */
  readonly waitMs?: number;
}

/** Result of `compact`. */
export interface CompactResult {
  /** False if there is more to do: call it again, or with a larger `maxMs`. */
  readonly done: boolean;
  /** Bytes that the file has become smaller. */
  readonly freedBytes: number;
  /** Bytes of the file now. */
  readonly fileBytes: number;
  /** The least `maxMs` to rewrite the file, an estimate in milliseconds; absent if `done`. */
  readonly needsMs?: number;
}

/** Deletes unused values, gives free pages back, and empties the log; killed, the next call goes on. */
export async function compactFile(
  { db, remover }: Pick<StateFile, 'db' | 'remover'>,
  { maxMs = 1000, waitMs = CLEAR_LOG_MS }: CompactOptions = {},
): Promise<CompactResult> {
  assertWait(waitMs);
  if (!(typeof maxMs === 'number' && maxMs > 0))
    throw new RangeError(`maxMs: expected a number above 0, got ${String(maxMs)}`);
  if (db.inTransaction) throw new TypeError('db: cannot compact a file inside a transaction');
  const until = performance.now() + maxMs;
  const left = (): number => until - performance.now();
  const before = fileUse(db).fileBytes;
  const swept = await inRounds(remover.sweepRounds(), { db, left, waitMs });
  const given = swept && (await giveBack(db, left, waitMs));
  await clearLog(db, waitMs);
  const { fileBytes, rewriteMs } = fileUse(db);
  const freedBytes = Math.max(0, before - fileBytes);
  return { done: given, freedBytes, fileBytes, ...(!given && { needsMs: rewriteMs }) };
}

/** Others get the file between two rounds, and this thread. False where the time was over before the last. */
async function inRounds(
  rounds: Iterator<unknown>,
  {
    db,
    left,
    waitMs,
  }: { readonly db: StateFile['db']; readonly left: () => number; readonly waitMs: number },
): Promise<boolean> {
  for (let isOver = false; ; ) {
    await ifFree(db, waitMs, () => {
      isOver = rounds.next().done === true;
    });
    if (isOver) return true;
    if (left() <= 0) return false;
    await setImmediate();
  }
}

async function giveBack(db: StateFile['db'], left: () => number, waitMs: number): Promise<boolean> {
  const { freeBytes, hasResidue, rewriteMs } = fileUse(db);
  if (freeBytes === 0 && !hasResidue) return true;
  if (hasResidue || !isGradual(db)) {
    if (rewriteMs > left()) return false;
    await rewriteFile(db, waitMs);
    return true;
  }
  while (fileUse(db).freeBytes > 0) {
    if (left() <= 0) return false;
    await giveBackPages(db, waitMs);
    await setImmediate();
  }
  return true;
}

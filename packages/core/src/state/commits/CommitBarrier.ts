/** The way of what was committed to where it cannot be lost (law L11). */
export interface CommitBarrier {
  /**
   * Whether all that is committed by now has arrived: `null` where it has, else a promise of it, that rejects where it never
   * will. A `null` costs whoever asks no turn of the event loop.
   *
   * @throws DevsError, by the promise: a fault of the engine, such as `LEASE_LOST`, which ends the drive.
   */
  pending(): Promise<void> | null;
  /** As {@link pending}, of which nobody waits to go on: it may go with what is committed next, soon. */
  leaving(): Promise<void> | null;
  /**
   * Whether little enough is on its way to go on: `null` where it is, else as {@link pending}.
   *
   * @param commit - Commits what was written late. Called before it is waited for.
   */
  keepsUp(commit: () => void): Promise<void> | null;
}

/** Where all that is committed is on its way at once. */
export const immediateBarrier = (arrived: CommitBarrier['pending']): CommitBarrier => ({
  pending: arrived,
  leaving: arrived,
  keepsUp: arrived,
});

/** A local file: what is committed is there. */
export const HERE: CommitBarrier = immediateBarrier(() => null);

/** `value`, once all that it rests on has arrived. */
export async function afterBarrier<T>(outlet: CommitBarrier, value: T | Promise<T>): Promise<T> {
  const left = await value;
  await outlet.pending();
  return left;
}

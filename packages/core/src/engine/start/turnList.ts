import type { ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';

/** A turn of a run. Times are ISO 8601, UTC. */
export interface TurnInfo {
  /** Its key; `null` for the input of a run that was started without one. */
  readonly turn: string | null;
  /** The latest turn stands as the run does. `queued`: it begins when those before have ended. */
  readonly status: ThreadStatus | 'queued';
  /** Why it ended or waits, for people. */
  readonly reason: string | null;
  /** When it was recorded or queued. */
  readonly createdAt: string;
  /** Position of its first event in the stream, minus one; 0 where its events are not kept. */
  readonly afterSeq: number;
  /** Position of its last event so far; 0 for one that has not begun. */
  readonly lastSeq: number;
}

/** Turns of a run, oldest first; then those that were queued, and have not begun. @throws DevsError `THREAD_NOT_FOUND` */
export function listTurns(
  threadId: string,
  { store: { threads, inputs, queue }, streams }: Pick<Engine, 'store' | 'streams'>,
): readonly TurnInfo[] {
  const thread = threads.require(threadId);
  const begun = inputs.list(threadId);
  const firstOf = (at: number): number | null => {
    const key = begun[at]?.key ?? null;
    return key === null ? null : streams.store.turnSeq(threadId, key);
  };
  const lastSeq = streams.store.lastSeq(threadId);
  const turns = begun.map(({ key: turn, end, begunAt }, at): TurnInfo => {
    const next = firstOf(at + 1);
    const isLatest = at === begun.length - 1;
    return {
      turn,
      ...(end === null
        ? { status: thread.status, reason: thread.reason }
        : { status: end.status, reason: end.reason }),
      createdAt: isoOf(begunAt ?? thread.createdAt),
      afterSeq: firstOf(at) ?? 0,
      lastSeq: isLatest ? lastSeq : next === null ? 0 : next - 1,
    };
  });
  const queued = queue.list(threadId).map(
    ({ key: turn, queuedAt, droppedAt }): TurnInfo => ({
      turn,
      ...(droppedAt === null
        ? { status: 'queued', reason: null }
        : { status: 'cancelled', reason: 'cancelled before it began' }),
      createdAt: isoOf(queuedAt),
      ...{ afterSeq: 0, lastSeq: 0 },
    }),
  );
  return [...turns, ...queued];
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

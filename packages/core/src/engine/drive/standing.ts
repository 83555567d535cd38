import { isDeepStrictEqual } from 'node:util';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import type { Engine } from './Engine.ts';

/** How far a run has come, to be compared. */
export interface Standing {
  /** Of its driver, on top of its own graph's checkpoints. */
  readonly moves: number | undefined;
  /** In the file, with the graphs inside it. */
  readonly made: string;
  /** Grows with each answer. */
  readonly wakeSeq: number;
}

type Standable = Pick<Engine, 'saver' | 'store'>;

export function standingOf(lease: FencedLease, { saver, store }: Standable): Standing {
  if (saver.hasUncommitted?.(lease) === true) store.commitLate(); // else its commit would count as a move
  const { wakeSeq } = store.threads.require(lease.threadId);
  return { moves: saver.moves?.(lease), made: store.footprint.made(lease.threadId), wakeSeq };
}

/** Whether the run stands elsewhere by now. Its driver knows its own writes without reading them. */
export function hasMoved(before: Standing, lease: FencedLease, engine: Standable): boolean {
  if (engine.saver.moves?.(lease) !== before.moves) return true;
  if (!isDeepStrictEqual(standingOf(lease, engine), before)) return true;
  engine.store.commitLate(); // a Thought alone is no move
  return !isDeepStrictEqual(standingOf(lease, engine), before);
}

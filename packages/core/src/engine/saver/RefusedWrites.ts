import type { CheckpointKey } from '../../state/checkpoints/checkpointRecords.ts';
import { RecentMap } from '../../values/RecentMap.ts';

/** Checkpoints whose refused writes are remembered. */
const REMEMBERED = 64;

/**
 * Writes that are being made ready or were refused, by the checkpoint that they are on top of. LangGraph asks for the next
 * checkpoint without waiting for the writes that it rests on, and a channel may hold more than one write: where a write was
 * refused, that checkpoint is, too.
 */
export class RefusedWrites {
  readonly #tasks = new RecentMap<string, Map<string, Promise<void>>>(REMEMBERED);

  /** What a task writes, as it is made ready; the task's next try takes its place. */
  watch<T>(key: CheckpointKey, taskId: string, ready: T | Promise<T>): T | Promise<T> {
    const tasks = this.#tasks.get(checkpointName(key)) ?? new Map<string, Promise<void>>();
    if (!(ready instanceof Promise)) {
      tasks.delete(taskId);
      return ready;
    }
    const done = ready.then(() => {
      if (tasks.get(taskId) === done) tasks.delete(taskId);
    });
    done.catch(() => {}); // its caller has the same error
    this.#tasks.set(checkpointName(key), tasks.set(taskId, done));
    return ready;
  }

  /** Rejects with what refused a write on top of the checkpoint; `null` where none is under way or was refused. */
  none(key: CheckpointKey): Promise<unknown> | null {
    const tasks = this.#tasks.get(checkpointName(key));
    return tasks === undefined || tasks.size === 0 ? null : Promise.all(tasks.values());
  }
}

const checkpointName = ({ threadId, checkpointNs, checkpointId }: CheckpointKey): string =>
  JSON.stringify([threadId, checkpointNs, checkpointId]);

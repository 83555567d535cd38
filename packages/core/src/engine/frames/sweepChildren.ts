import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { isFrameQuestion } from '../gates/question.ts';
import { childThreadsOf } from './frameContext.ts';

/**
 * Deletes the threads of every child a thread has ever asked for, and theirs.
 *
 * A frame deletes its children as it takes their outputs; what a kill in between left is found here, by the
 * questions and answers that stay in the checkpoints.
 *
 * @param root - Thread of the outermost frame, under which every child thread is named.
 */
export async function sweepChildren(
  saver: BaseCheckpointSaver,
  threadId: string,
  root: string,
): Promise<void> {
  const threads = new Set([threadId]);
  for (const thread of threads) {
    for await (const tuple of saver.list({ configurable: { thread_id: thread } })) {
      const children = childrenIn(tuple).filter((child) => child.startsWith(`${root}/`));
      children.forEach(threads.add, threads);
    }
    if (thread !== threadId) await saver.deleteThread(thread);
  }
}

/** A later question of a task takes the place of an earlier one, whose answer then still names the child. */
function childrenIn({ pendingWrites = [] }: CheckpointTuple): readonly string[] {
  return pendingWrites.flatMap(([, channel, value]) => {
    if (channel !== '__interrupt__' && channel !== '__resume__') return [];
    return [value].flat().flatMap(channel === '__resume__' ? answeredThreads : askedThreads);
  });
}

function askedThreads(interrupt: unknown): readonly string[] {
  const { value } = (interrupt ?? {}) as { readonly value?: unknown };
  return isFrameQuestion(value) ? childThreadsOf(value) : [];
}

function answeredThreads(answer: unknown): readonly string[] {
  const { for: key, value } = (answer ?? {}) as { readonly for?: unknown; readonly value?: unknown };
  if (typeof key !== 'string') return [];
  return [key, ...(Array.isArray(value) ? value.map((_, index) => `${key}.${index}`) : [])];
}

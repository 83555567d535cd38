import { type BaseCheckpointSaver, uuid5 } from '@langchain/langgraph-checkpoint';
import type { RecordedNode } from './ActiveNode.ts';
import { type InnerLevel, innerGraphNs } from './innerRuns.ts';
import { ambientConfig } from './toolCalls.ts';

export interface CheckpointAt {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly checkpointId: string;
}

/** A task that LangGraph's first attempt ran, or would have run, where this one runs another. */
export interface FirstTask {
  readonly taskId: string;
  readonly checkpoint: CheckpointAt;
}

/**
 * The task of the first attempt in which the innermost task of `way` was run before: of the graph that was begun as the
 * same one by the same task, in the same super-step and branch. `null` where that attempt did not come so far.
 */
export async function firstTaskOf(
  { inner }: Pick<RecordedNode, 'inner'>,
  way: readonly InnerLevel[],
): Promise<FirstTask | null> {
  let callerNs = inner.taskNs;
  let first: FirstTask | null = null;
  for (const level of way) {
    const graphNs = innerGraphNs(callerNs, level.index);
    first = await taskIn(graphNs, level);
    if (first === null) return null;
    callerNs = `${graphNs}|${level.name}:${first.taskId}`;
  }
  return first;
}

async function taskIn(checkpointNs: string, level: InnerLevel): Promise<FirstTask | null> {
  const { threadId, told, taskId, graphNs } = level;
  if (threadId === null || told === null || told.checkpointId === '') return null;
  if (checkpointNs === graphNs) {
    return { taskId, checkpoint: { threadId, checkpointNs, checkpointId: told.checkpointId } };
  }
  // Another version of LangGraph may name its tasks otherwise.
  if (innerTaskId(level, graphNs, told.checkpointId) !== taskId) return null;
  const checkpointId = await latestAt({ threadId, checkpointNs, step: told.step - 1 });
  if (checkpointId === null) return null;
  const checkpoint = { threadId, checkpointNs, checkpointId };
  return { taskId: innerTaskId(level, checkpointNs, checkpointId), checkpoint };
}

interface StepAt {
  readonly threadId: string;
  readonly checkpointNs: string;
  readonly step: number;
}

/** A graph whose state was changed from outside has several checkpoints of one step: it went on from the last. */
async function latestAt({ threadId, checkpointNs, step }: StepAt): Promise<string | null> {
  const saver: unknown = ambientConfig()?.configurable?.['__pregel_checkpointer'];
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs };
  const found = (saver as BaseCheckpointSaver | undefined)?.list(
    { configurable },
    { filter: { step }, limit: 1 },
  );
  for await (const { checkpoint } of found ?? []) return checkpoint.id;
  return null;
}

/** The id that LangGraph gives a task of a graph: by what it is there, under the checkpoint it starts from. */
function innerTaskId({ name, told }: InnerLevel, graphNs: string, checkpointId: string): string {
  const { step = 0, path = [], triggers = [] } = told ?? {};
  const [kind, at, call, isCall] = path;
  const pushed = isCall === true ? [at, call] : [String(at)];
  const which = kind === '__pregel_pull' ? [triggers] : pushed;
  return uuid5(JSON.stringify([`${graphNs}|${name}`, String(step), name, kind, ...which]), checkpointId);
}

// The stored form of a checkpoint and of its tasks' writes: versions, settled triggers, masked errors. A checkpoint on
// top of a refused write is refused, too.
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  ERROR,
  INTERRUPT,
} from '@langchain/langgraph-checkpoint';
import type { CheckpointKey } from '../../state/checkpoints/checkpointRecords.ts';
import { isRecord } from '../../values/isRecord.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import { callsItsNode, TRIGGER } from '../breakpoints/Breakpoint.ts';
import { describeThrown } from '../execution/thrown.ts';

/**
 * The versions of all channels that have a value: what a checkpoint stores whose caller does not say what is new in it.
 * A version without a value is left out, because the value may have been stored with it before.
 */
export function versionsOfValues({
  channel_values: values,
  channel_versions: versions,
}: Checkpoint): ChannelVersions {
  return Object.fromEntries(Object.entries(versions).filter(([channel]) => Object.hasOwn(values, channel)));
}

/**
 * The checkpoint of a super-step with every trigger that had its effect marked as seen.
 *
 * A node that two triggers call in one super-step runs once, and LangGraph marks only the first of them. Whoever goes
 * on from a stored checkpoint then runs the node a second time. After a super-step only the channels written in it
 * call anybody, so every other trigger is settled. One that calls nobody is left alone: by the versions a node has seen,
 * LangGraph's `updateState` knows which node ran last.
 */
export function withSettledTriggers(
  checkpoint: Checkpoint,
  { source }: CheckpointMetadata,
  newVersions: ChannelVersions,
): Checkpoint {
  if (source !== 'loop') return checkpoint;
  const seen = { ...checkpoint.versions_seen };
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const { node, starts } = TRIGGER.exec(channel)?.groups ?? {};
    if (node === undefined || Object.hasOwn(newVersions, channel)) continue;
    if (!callsItsNode(checkpoint.channel_values[channel], starts)) continue;
    if (seen[node]?.[channel] !== version) seen[node] = { ...seen[node], [channel]: version };
  }
  return { ...checkpoint, versions_seen: seen };
}

/**
 * What a task writes, as it is stored: exactly, but for the error of a failed task. LangGraph keeps that as it was thrown; it
 * passes the broad rules, as every error does.
 */
export function storedWrite(channel: string, value: unknown): unknown {
  if (channel === ERROR) return maskedError(value);
  return channel === INTERRUPT && Array.isArray(value) ? value.map(withPlainSchema) : value;
}

/** What zod makes of a schema carries hidden properties, which are no part of it. */
function withPlainSchema(asked: unknown): unknown {
  if (!isRecord(asked) || asked['response_schema'] === undefined) return asked;
  return { ...asked, response_schema: JSON.parse(JSON.stringify(asked['response_schema'])) as unknown };
}

/** Can be stored, whatever it holds: no run ends with the error of its error. */
function maskedError(value: unknown): unknown {
  if (value instanceof Error) {
    const { message, ...words } = describeThrown(value);
    return Object.assign(new Error(message), words);
  }
  if (Array.isArray(value)) return value.map(maskedWord);
  if (!isRecord(value)) return maskedWord(value);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskedWord(field)]));
}

function maskedWord(value: unknown): unknown {
  const isPlain =
    value === undefined || value === null || typeof value === 'boolean' || Number.isFinite(value);
  return isPlain ? value : describeThrown(value).message;
}

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

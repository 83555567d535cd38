import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { GraphCheckpointStore } from '../../state/checkpoints/GraphCheckpointStore.ts';
import type { StreamRecord } from '../../state/events/StreamStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { gateOf } from '../gates/Gate.ts';
import type { LastingEvent } from './StreamEvent.ts';
import { joinUpdate, type UpdateShape } from './storedChunk.ts';

/** Where chunks are that the file has already. */
export interface StreamSources {
  readonly checkpoints: Pick<GraphCheckpointStore, 'loadWrites'>;
  readonly sessions: { require(id: string): HitlSession };
  readonly saver: {
    readonly serde: { loadsTyped(type: string, bytes: Uint8Array): Promise<unknown> };
    getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined>;
  };
  /** The values of the run's graph at a checkpoint; `null` if there is no such checkpoint. */
  valuesAt(threadId: string, checkpointId: string): Promise<unknown>;
}

interface UpdatesPlace {
  readonly checkpointId: string;
  readonly taskId: string;
  readonly shape: UpdateShape;
}

interface ValuesPlace {
  readonly checkpointId: string;
  /** Of a graph inside a node. */
  readonly channels?: readonly string[];
}

interface End {
  readonly status: 'completed';
  readonly reason: string | null;
}

const tellers = new WeakMap<object, string>();

/** The author of an event that was read here: a task, or a step in it. */
export const tellerOf = (event: object): string | null => tellers.get(event) ?? null;

/**
 * An event as a reader gets it.
 *
 * @throws DevsError `STREAM_NOT_KEPT` if the checkpoint that it is in was pruned.
 */
export async function readEvent(
  threadId: string,
  { seq, mode, ns: graphNs, scope, body }: StreamRecord,
  sources: StreamSources,
): Promise<LastingEvent> {
  const ns = graphNs === '' ? [] : graphNs.split('|');
  if ('value' in body) {
    const event = { seq, mode, ns, data: await loadValue(body.value, sources) } as LastingEvent;
    if (scope !== null) tellers.set(event, scope);
    return event;
  }
  const { refers } = body;
  switch (mode) {
    case 'gate':
      return {
        seq,
        mode,
        gate: gateOf(sources.sessions.require((refers as { sessionId: string }).sessionId)),
      };
    case 'end':
      return { seq, mode, ...(refers as End) };
    case 'custom':
    case 'updates':
    case 'values': {
      const at = { threadId, checkpointNs: graphNs };
      const data =
        mode === 'updates'
          ? await updatesAt(at, refers as UpdatesPlace, sources)
          : await valuesAt(at, refers as ValuesPlace, sources);
      if (data === null) throw notKept(threadId, 'pruned', { seq });
      return { seq, mode, ns, data } as LastingEvent;
    }
  }
}

type Graph = { readonly threadId: string; readonly checkpointNs: string };

async function updatesAt(
  graph: Graph,
  { checkpointId, taskId, shape }: UpdatesPlace,
  sources: StreamSources,
): Promise<unknown> {
  const rows = sources.checkpoints.loadWrites({ ...graph, checkpointId });
  const writes = new Map(rows.filter((row) => row.taskId === taskId).map((row) => [row.idx, row.value]));
  if (writes.size === 0) return null;
  return joinUpdate(shape, async (place) => {
    const value = writes.get(place);
    return value === undefined ? undefined : loadValue(value, sources);
  });
}

async function valuesAt(
  { threadId, checkpointNs }: Graph,
  { checkpointId, channels }: ValuesPlace,
  { saver, valuesAt: valuesOfRun }: StreamSources,
): Promise<unknown> {
  if (channels === undefined) return valuesOfRun(threadId, checkpointId);
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId };
  const tuple = await saver.getTuple({ configurable });
  if (tuple === undefined) return null;
  const { channel_values: values } = tuple.checkpoint;
  return Object.fromEntries(channels.map((name) => [name, values[name]]));
}

const loadValue = ({ type, bytes }: TypedBytes, { saver }: StreamSources): Promise<unknown> =>
  saver.serde.loadsTyped(type, bytes);

const WHY = {
  trimmed: 'the next event of its stream was deleted',
  pruned: 'the checkpoint with the next event of its stream was pruned',
  ahead: 'its stream has fewer events',
  'not recorded': 'its stream was not recorded',
} as const;

/** @param why - What became of the event that is to be read next. */
export function notKept(
  threadId: string,
  why: keyof typeof WHY,
  context: { readonly seq?: number; readonly first?: number },
): DevsError {
  return new DevsError(`Run "${threadId}" cannot be streamed from this position: ${WHY[why]}.`, {
    code: 'STREAM_NOT_KEPT',
    remedy:
      'Read the current state with values() and gates(), then stream without `after`. Or keep more events.',
    context: { threadId, why, ...context },
  });
}

// The events of a stream: their shapes, the bytes that a stored one is kept as, and reading it back.

import type { BaseMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { CheckpointTuple, PendingWrite } from '@langchain/langgraph-checkpoint';
import { type Limits, tooLarge } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { GraphCheckpointStore } from '../../state/checkpoints/GraphCheckpointStore.ts';
import type { RecordedMode, StreamRecord } from '../../state/events/StreamStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { EndedStatus } from '../../state/threads/threadRecords.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { isRecord } from '../../values/isRecord.ts';
import { type Gate, gateOf } from '../gates/Gate.ts';
import { StrictSerde } from '../saver/StrictSerde.ts';
import { type CheckpointPlace, placeOfCheckpoint, type StateAt } from './checkpointPlace.ts';

/** LangGraph's modes that a durable run streams. */
export type StreamMode = 'updates' | 'values' | 'custom' | 'messages';

/** A stored event: it has a position in its run and is in the state file before a reader receives it. */
interface Lasting {
  /** Position, from 1 without gaps. Continue with `after`. */
  readonly seq: number;
}

interface OfGraph {
  /** LangGraph's namespace of its graph; empty for the run's own graph. */
  readonly ns: readonly string[];
}

/** A task's writes, by node name. */
interface UpdatesChunk<Update> extends Lasting, OfGraph {
  readonly mode: 'updates';
  readonly data: Readonly<Record<string, Update>>;
}

/** The state after a super-step. */
interface ValuesChunk<State> extends Lasting, OfGraph {
  readonly mode: 'values';
  readonly data: State;
  /** LangGraph's checkpoint with this state; absent for a graph inside a node that keeps none. `parentId`: the one before. */
  readonly checkpoint?: CheckpointPlace;
}

/** The argument of `config.writer`. */
interface CustomChunk extends Lasting, OfGraph {
  readonly mode: 'custom';
  readonly data: unknown;
}

/** The run waits for a person. Once per gate. */
export interface GateOpenedEvent extends Lasting {
  readonly mode: 'gate';
  readonly gate: Gate;
}

/** The run has ended. A failed run that is run again ends again. */
export interface RunEnded extends Lasting {
  readonly mode: 'end';
  readonly status: EndedStatus;
  readonly reason: string | null;
  /** Key of the turn that has ended, in a run with turns. */
  readonly turn?: string;
}

/** A turn begins. Only with `overTurns`. */
export interface TurnBegun extends Lasting {
  readonly mode: 'turn';
  readonly turn: string;
}

/** A piece of a chat model's message, in the process that executes the run only. It is not stored: the task's result is. */
export interface TokensChunk extends OfGraph, NodeAttempt {
  readonly mode: 'messages';
  /** Id of the model call; its pieces belong together. */
  readonly id: string;
  /** Its number among the pieces of the call, from 0. */
  readonly piece: number;
  /** Its text; empty for a piece without text, such as one of a tool call. */
  readonly data: string;
  /**
   * The piece as LangChain has it, with the id of the message and the chunks of its tool calls. Not in a stream of `maskStream`.
   */
  readonly chunk?: BaseMessage;
  /** LangGraph's metadata of the model call. Not in a stream of `maskStream`. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A task runs again: ignore the model text of its earlier attempts. */
export interface RestartedEvent extends NodeAttempt {
  readonly mode: 'restarted';
}

/** An attempt at a task of the run's own graph. */
interface NodeAttempt {
  readonly task: string;
  readonly node: string;
  /** LangGraph's super-step. */
  readonly step: number;
  /** Starts at 1 in this execution. */
  readonly attempt: number;
}

/** The stored events of a stream. */
export type LastingEvent<State = unknown, Update = unknown> =
  | UpdatesChunk<Update>
  | ValuesChunk<State>
  | CustomChunk
  | GateOpenedEvent
  | TurnBegun
  | RunEnded;

/** Events of the requested modes, and always gates and ends. Events with a `seq` are stored. */
export type StreamEvent<State = unknown, Update = unknown, Mode extends StreamMode = StreamMode> =
  | Extract<UpdatesChunk<Update> | ValuesChunk<State> | CustomChunk | TokensChunk, { readonly mode: Mode }>
  | ('messages' extends Mode ? RestartedEvent : never)
  | GateOpenedEvent
  | TurnBegun
  | RunEnded;

/** Chunks of tasks: as deep as what they are made of, and the names around it. */
const chunkSerde = new StrictSerde({ maxDepth: 900, numbers: 'every' });

/**
 * A chunk as it is kept.
 *
 * @throws DevsError `VALUE_NOT_STORABLE`; `VALUE_TOO_LARGE` for data that a node streams.
 */
export function dumpChunk(
  chunk: unknown,
  mode: RecordedMode,
  limits: Limits,
): TypedBytes | Promise<TypedBytes> {
  const dumped = chunkSerde.dump(chunk);
  const limited = ([type, bytes]: [string, Uint8Array]): TypedBytes => {
    if (mode === 'custom' && bytes.byteLength > limits.chunkBytes)
      throw oversize(chunk, bytes.byteLength, limits);
    return { type, bytes };
  };
  return dumped instanceof Promise ? dumped.then(limited) : limited(dumped);
}

function oversize(chunk: unknown, bytes: number, limits: Limits): DevsError {
  const path = heaviestPlace(chunk, 'chunk');
  return tooLarge({ what: 'A chunk for the stream', limit: 'chunkBytes', bytes, path, limits });
}

// An update that LangGraph streams is made of the writes of its task, which are in the file. Of the update itself
// only the names are stored, and in the place of each value which of the writes it is.

/** Which of the task's writes a value is. */
type WriteIndex = number;

type ShapePart = WriteIndex | { readonly [channel: string]: WriteIndex };

interface UpdateShape {
  readonly [node: string]: ShapePart | readonly ShapePart[];
}

/**
 * The update as places among the writes; `null` where it is not made of them. That is so for an update from the node's cache,
 * which LangGraph marks. A channel that the file does not keep is left out.
 */
export function shapeOfUpdate(
  update: Readonly<Record<string, unknown>>,
  writes: readonly PendingWrite[],
): UpdateShape | null {
  const free = new Set(writes.keys());
  const kept = new Set(writes.map(([channel]) => channel));
  const place = (value: unknown, channel?: string): WriteIndex | null => {
    for (const at of free) {
      const [written, what] = writes[at] as PendingWrite;
      if (!Object.is(what, value) || (channel !== undefined && written !== channel)) continue;
      free.delete(at);
      return at;
    }
    return null;
  };
  const part = (value: unknown): ShapePart | null => {
    const whole = place(value);
    if (whole !== null || !isRecord(value)) return whole;
    const channels = Object.entries(value).filter(([channel]) => kept.has(channel));
    const places = channels.map(([channel, written]) => [channel, place(written, channel)] as const);
    return places.some(([, at]) => at === null) ? null : (Object.fromEntries(places) as ShapePart);
  };
  const nodes = Object.entries(update).map(([node, value]) => {
    const parts = Array.isArray(value) && place(value) === null ? value.map(part) : part(value);
    return [node, parts] as const;
  });
  const isWhole = nodes.every(([, parts]) => (Array.isArray(parts) ? !parts.includes(null) : parts !== null));
  return isWhole ? (Object.fromEntries(nodes) as UpdateShape) : null;
}

const placesIn = (shape: UpdateShape): readonly WriteIndex[] =>
  Object.values(shape)
    .flat()
    .flatMap((part: ShapePart) => (typeof part === 'number' ? [part] : Object.values(part)));

/** The update again. @param valueAt - What the task wrote at a place. */
async function joinUpdate(
  shape: UpdateShape,
  valueAt: (place: WriteIndex) => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const whole = async (part: ShapePart): Promise<unknown> =>
    typeof part === 'number' ? valueAt(part) : fromPlaces(part, valueAt);
  const nodes = Object.entries(shape).map(async ([node, parts]) => {
    const isList = (given: typeof parts): given is readonly ShapePart[] => Array.isArray(given);
    return [node, isList(parts) ? await Promise.all(parts.map(whole)) : await whole(parts)] as const;
  });
  return Object.fromEntries(await Promise.all(nodes));
}

async function fromPlaces(
  places: { readonly [channel: string]: WriteIndex },
  valueAt: (place: WriteIndex) => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const entries = Object.entries(places).map(async ([channel, at]) => [channel, await valueAt(at)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Where chunks are that the file has already. */
export interface StreamSources {
  readonly checkpoints: Pick<GraphCheckpointStore, 'loadWrites'>;
  readonly sessions: { require(id: string): HitlSession };
  readonly saver: {
    readonly serde: { loadsTyped(type: string, bytes: Uint8Array): Promise<unknown> };
    getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined>;
  };
  /** The values of the run's graph at a checkpoint; `null` if there is no such checkpoint. */
  stateAt(threadId: string, checkpointId: string): Promise<StateAt | null>;
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
  readonly turn?: string;
}

const tellers = new WeakMap<object, string>();

/** The author of an event that was read here: a task, or a step in it. */
export const tellerOf = (event: object): string | null => tellers.get(event) ?? null;

/** The task of the run's own graph that has this event as its result. */
export function taskOf({ mode, ns, body }: StreamRecord): string | null {
  if (mode !== 'updates' || ns !== '' || !('refers' in body)) return null;
  const { taskId } = body.refers as Partial<UpdatesPlace>;
  return taskId ?? null;
}

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
    case 'turn':
      return { seq, mode, ...(refers as { readonly turn: string }) };
    case 'values': {
      const at = await valuesAt({ threadId, checkpointNs: graphNs }, refers as ValuesPlace, sources);
      if (at === null) throw notKept(threadId, 'pruned', { seq });
      return { seq, mode, ns, data: at.values, checkpoint: at.checkpoint };
    }
    case 'custom':
    case 'updates': {
      const at = { threadId, checkpointNs: graphNs };
      const data = await updatesAt(at, refers as UpdatesPlace, sources);
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
  // An update of untracked channels alone has no row in the file, and is whole without its checkpoint.
  if (writes.size === 0 && placesIn(shape).length > 0) return null;
  return joinUpdate(shape, async (place) => {
    const value = writes.get(place);
    return value === undefined ? undefined : loadValue(value, sources);
  });
}

async function valuesAt(
  { threadId, checkpointNs }: Graph,
  { checkpointId, channels }: ValuesPlace,
  { saver, stateAt }: StreamSources,
): Promise<StateAt | null> {
  if (channels === undefined) return stateAt(threadId, checkpointId);
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId };
  const tuple = await saver.getTuple({ configurable });
  if (tuple === undefined) return null;
  const { channel_values: kept } = tuple.checkpoint;
  const values = Object.fromEntries(channels.map((name) => [name, kept[name]]));
  return { values, checkpoint: placeOfCheckpoint(checkpointId, tuple) };
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

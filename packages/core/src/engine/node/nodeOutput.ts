// The update that a node writes, the engine's additions to it, and the state that both lead to.

import { type BinaryOperatorAggregate, COMMAND_SYMBOL, Command, END, isCommand } from '@langchain/langgraph';
import type { GuardedState } from '../execution/nodeExecution.ts';
import type { GateOpening } from '../gates/TaskFailureGate.ts';
import type { GraphProfile, NodeUpdate } from '../graph/NodeEngine.ts';

/** Reserved key of a node's update; the runner reads and strips it. */
export const METADATA_KEY = '__metadata__';

export interface NodeMetadata {
  /** How much the task repeats itself, in [0, 1]. */
  readonly entropyScore?: number;
  /** Hands the task to a human whatever its score: why, and what was measured. */
  readonly stuck?: Pick<GateOpening, 'reason' | 'measured'>;
}

type Update = Readonly<Record<string, unknown>>;

/** A channel and what is written to it. */
export type ChannelWrite = readonly [string, unknown];

/** Writes of the engine to the channels of the author's graph, before and after those of the node. */
interface Additions {
  readonly before?: Update;
  readonly after?: Update;
}

/** The return value of a node. LangGraph gets it unchanged, unless it holds metadata or the engine adds to it. */
export class NodeOutput {
  readonly #raw: unknown;
  readonly metadata: NodeMetadata;

  constructor(raw: unknown) {
    this.metadata = metadataOf(raw);
    this.#raw = raw;
  }

  /** Its writes to this graph, in LangGraph's order; empty where LangGraph refuses it. */
  get writes(): readonly ChannelWrite[] {
    return allWrites(this.#raw).filter(isNoMetadata);
  }

  /** The same in one object; of several writes to a channel, the last. */
  get update(): Update {
    return Object.fromEntries(this.writes);
  }

  /** The value for LangGraph. */
  toReturn(additions: Additions = {}): unknown {
    return withAdditions(withoutMetadata(this.#raw), additions);
  }
}

/** The return value of an entrypoint. LangGraph gets it unchanged. */
export class EntrypointOutput extends NodeOutput {
  readonly #value: unknown;

  constructor(value: unknown) {
    super([[END, finalValue(value)]]);
    this.#value = value;
  }

  override toReturn(): unknown {
    return this.#value;
  }
}

/** The part for the caller of an entrypoint. */
function finalValue(value: unknown): unknown {
  const { __lg_type: type, value: returned } = Object(value) as { __lg_type?: unknown; value?: unknown };
  return type === '__pregel_final' ? returned : value;
}

function allWrites(raw: unknown): readonly ChannelWrite[] {
  if (isMany(raw)) return raw.flatMap(allWrites);
  if (isCommand(raw)) return raw.graph === Command.PARENT ? [] : updateEntries(raw.update);
  return Array.isArray(raw) ? [] : updateEntries(raw);
}

function updateEntries(update: unknown): readonly ChannelWrite[] {
  if (typeof update !== 'object' || update === null) return [];
  if (!Array.isArray(update)) return Object.entries(update);
  return update.every(isChannelWrite) ? update : [];
}

const isChannelWrite = (pair: unknown): pair is ChannelWrite =>
  Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string';

const isNoMetadata = ([name]: ChannelWrite): boolean => name !== METADATA_KEY;

function metadataOf(raw: unknown): NodeMetadata {
  const first = isMany(raw) ? raw[0] : raw;
  const writes = allWrites(first);
  const [, metadata] = writes.find((write) => !isNoMetadata(write)) ?? [];
  return typeof metadata === 'object' && metadata !== null ? metadata : {};
}

function withoutMetadata(raw: unknown): unknown {
  if (isMany(raw)) return mapOrSame(raw, withoutMetadata);
  if (isCommand(raw)) {
    const update = withoutMetadataPair(raw.update);
    return update === raw.update ? raw : commandLike(raw, { update });
  }
  return Array.isArray(raw) ? raw : withoutMetadataPair(raw);
}

function withoutMetadataPair<T>(update: T): T {
  if (typeof update !== 'object' || update === null) return update;
  if (Array.isArray(update)) {
    return update.every(isChannelWrite) && !update.every(isNoMetadata)
      ? (update.filter(isNoMetadata) as T)
      : update;
  }
  if (!Object.hasOwn(update, METADATA_KEY)) return update;
  const { [METADATA_KEY]: _stripped, ...rest } = update as Update;
  return rest as T;
}

function withAdditions(raw: unknown, { before = {}, after = {} }: Additions): unknown {
  if (isEmptyUpdate(before) && isEmptyUpdate(after)) return raw;
  if (isMany(raw)) return [withAdditions(raw[0], { before, after }), ...raw.slice(1)];
  if (isCommand(raw)) return commandLike(raw, { update: addAround(raw.update, { before, after }) });
  return Array.isArray(raw) ? raw : addAround(raw, { before, after });
}

function addAround<T>(update: T, { before = {}, after = {} }: Additions): T {
  const pairs = Array.isArray(update) && [...Object.entries(before), ...update, ...Object.entries(after)];
  if (pairs) return pairs as T;
  return typeof update === 'object' || !update ? ({ ...before, ...update, ...after } as T) : update;
}

function isEmptyUpdate(update: Update): boolean {
  for (const _any in update) return false;
  return true;
}

/** The writes of a human's answer, on their way into the state with those of the node. */
interface DecidedWrites {
  /** Before the node's writes, each for itself. */
  readonly beside: readonly ChannelWrite[];
  /** In the node's own update, in which the node has the last word. */
  readonly within: Readonly<Record<string, unknown>>;
}

/** @param reduces - Whether a channel takes several writes of one task: there both are written. */
export function decidedWrites(
  decided: readonly ChannelWrite[],
  output: NodeOutput,
  reduces: (channel: string) => boolean,
): DecidedWrites {
  const isApart = ([name]: ChannelWrite): boolean => reduces(name) && Object.hasOwn(output.update, name);
  return {
    beside: decided.filter(isApart),
    within: Object.fromEntries(decided.filter((write) => !isApart(write))),
  };
}

/** LangGraph takes a list for several outputs only if one of them is a command. */
const isMany = (raw: unknown): raw is readonly unknown[] => Array.isArray(raw) && raw.some(isCommand);

/** A command like `command`, of its class and with its fields, that says something else. */
function commandLike(command: Command, said: { readonly update: unknown }): Command {
  return copyWith(command, { ...said, [COMMAND_SYMBOL]: { ...command[COMMAND_SYMBOL], ...said } });
}

/** The list itself where nothing in it changes. */
function mapOrSame(parts: readonly unknown[], change: (part: unknown) => unknown): readonly unknown[] {
  const changed = parts.map((part) => change(part));
  return changed.every((part, at) => part === parts[at]) ? parts : changed;
}

/** A copy of an instance of any class with other fields. */
export function copyWith<T extends object>(original: T, fields: object): T {
  return Object.assign(Object.create(Object.getPrototypeOf(original) as object) as T, original, fields);
}

type StateFields = Readonly<Record<string, unknown>>;

/**
 * What a node is given, with an update: the very value when there is nothing to add. What is no plain object, such as
 * the payload of a `Send`, stays as it is beside it.
 */
export function mergedState<State extends object>(state: State, update: object): State {
  for (const _any in update) return { ...fieldsOf(state), ...update } as State;
  return state;
}

/** A state as a record, for the journal; what is no plain object is its field `input`. */
export function fieldsOf(state: unknown): Record<string, unknown> {
  if (typeof state !== 'object' || state === null) return { input: state };
  const prototype: unknown = Object.getPrototypeOf(state);
  return prototype === Object.prototype || prototype === null ? { ...state } : { input: state };
}

/** The part of an update that belongs to the author's graph. */
export function withoutGuards<State>(
  update: NodeUpdate<State>,
  profile: Pick<GraphProfile<State>, 'declaresGuards'>,
): StateFields {
  if (profile.declaresGuards === true) return update as StateFields;
  const { pendingSuspension: _question, progressStep: _mark, ...own } = update as GuardedState & StateFields;
  return own;
}

/** The part of an update that belongs to the engine, where the graph does not declare it itself. */
export function guardsAmong<State>(
  update: GuardedState,
  profile: Pick<GraphProfile<State>, 'declaresGuards'>,
): GuardedState {
  if (profile.declaresGuards === true) return {};
  const { pendingSuspension, progressStep } = update;
  return {
    ...(pendingSuspension !== undefined && { pendingSuspension }),
    ...(progressStep !== undefined && { progressStep }),
  };
}

type ChannelValues = Readonly<Record<string, unknown>>;

/** The state as one node's writes leave it: through the channels' reducers, as LangGraph will merge them. */
export function foldUpdate<State extends object>(
  channels: ChannelValues,
  state: State,
  writes: readonly ChannelWrite[],
): State {
  const folded = { ...state } as Record<string, unknown>;
  for (const [name, value] of writes) {
    if (Object.hasOwn(channels, name)) folded[name] = reduced(channels[name], folded[name], value);
  }
  return folded as State;
}

/** Whether a channel merges what is written to it, instead of holding the last. By its name: its class may be of a CommonJS copy. */
export const isReduced = (channel: unknown): channel is BinaryOperatorAggregate<unknown> =>
  (Object(channel) as Partial<BinaryOperatorAggregate<unknown>>).lc_graph_name === 'BinaryOperatorAggregate';

function reduced(channel: unknown, current: unknown, value: unknown): unknown {
  if (!isReduced(channel)) return value;
  const scratch = channel.fromCheckpoint(copyValue(current));
  scratch.update([value]);
  return scratch.get();
}

/** A reducer may change what it is given, and the channel still holds it. */
function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  if (value instanceof Map) return new Map(value);
  if (value instanceof Set) return new Set(value);
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? { ...value } : value;
}

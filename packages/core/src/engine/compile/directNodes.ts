import { Runnable, type RunnableConfig } from '@langchain/core/runnables';
import { isConditionalEdge } from './directEdges.ts';
import { inNodeContext, isOutermost } from './nodeContext.ts';
import { failingLate, raced } from './raced.ts';

interface Config extends Pick<RunnableConfig, 'callbacks' | 'signal'> {
  readonly configurable?: { readonly __pregel_send?: (writes: readonly Write[]) => void };
}

type Write = readonly [channel: string, value: unknown];

interface Invokable {
  invoke(input: unknown, config: Config): Promise<unknown>;
}

/** LangGraph's wrapper of a function. */
interface FunctionRunnable extends Invokable {
  readonly name?: string;
  readonly trace: boolean;
  readonly config?: object;
  func(input: unknown, config: Config): unknown;
}

/** What LangGraph's writer writes: the channels of an update, or a channel that starts a node. */
type Entry =
  | { readonly mapper: FunctionRunnable; readonly value: object }
  | { readonly channel: string; readonly value: unknown };

type ChannelWriter = FunctionRunnable & { readonly writes: readonly Entry[] };

/** The part of LangGraph's compiled node that is used here; a test compares it with the installed version. */
interface CompiledNode {
  readonly bound: Invokable;
  getNode(): Invokable | undefined;
  getWriters(): readonly Invokable[];
}

// Of two tasks that fail side by side, the first is told, and the other is aborted. LangGraph's layers take more
// turns of the microtask queue than this does: so many until a node's update is refused, and for each part after that.
const NODE_TURNS = 12;
const PART_TURNS = 11;

const PASSTHROUGH = Symbol.for('LG_PASSTHROUGH');

/**
 * Has the nodes of a compiled graph run without LangChain's layers around each of their parts. LangGraph makes a sequence of
 * a node, what writes its update, and its edges, and sets up context and trace for each of them, which is most of what a
 * super-step takes. Here all of them share one context.
 *
 * Where somebody listens, the sequence runs as LangGraph made it. So it does for a node that is not made as expected.
 */
export function directNodes(nodes: Readonly<Record<string, unknown>>): void {
  for (const node of Object.values(nodes) as CompiledNode[]) {
    const [getNode, getWriters] = [node.getNode.bind(node), node.getWriters.bind(node)];
    let writers: readonly Invokable[] | undefined;
    let direct: Invokable | undefined;
    // Edges are added after the node: what it is made of is known when it is first run.
    node.getWriters = () => {
      writers ??= getWriters();
      return writers;
    };
    node.getNode = () => {
      direct ??= directNode(node, getNode());
      return direct;
    };
  }
}

function directNode(node: CompiledNode, sequence: Invokable | undefined): Invokable | undefined {
  const { bound } = node;
  const [update, control, ...others] = node.getWriters();
  const edges = others.filter(isEdge);
  const isExpected =
    isFunction(bound) &&
    bound.config === undefined &&
    isChannelWriter(update) &&
    isControlBranch(control) &&
    edges.length === others.length;
  if (sequence === undefined || !isExpected) return sequence;
  const work = async (input: unknown, own: Config): Promise<unknown> => {
    const { signal } = own;
    const returned = await raced(called(bound, input, own), signal);
    delete own.callbacks; // a node hears its own calls; its edges are none
    let turns = NODE_TURNS;
    await failingLate(writeChannels(update, returned, own), turns, signal);
    if (saysWhereTo(returned)) await failingLate(follow(control, returned, own), turns, signal);
    else turns += PART_TURNS;
    for (const edge of edges) {
      turns += PART_TURNS;
      const followed = isChannelWriter(edge)
        ? writeChannels(edge, returned, own)
        : follow(edge, returned, own);
      await failingLate(followed, turns, signal);
    }
    return returned;
  };
  const invoke = async (input: unknown, config: Config): Promise<unknown> => {
    if (config.callbacks !== undefined || !isOutermost()) return await sequence.invoke(input, config);
    await Promise.resolve(); // LangGraph begins all nodes before one of them works
    return await inNodeContext(config, (own) => work(input, own));
  };
  return Object.assign(Object.create(sequence) as Invokable, { invoke });
}

/** What a node returns, or what the runnable does that it returns. */
async function called(bound: FunctionRunnable, input: unknown, config: Config): Promise<unknown> {
  const returned = await bound.func(input, config);
  return Runnable.isRunnable(returned) ? await returned.invoke(input, config) : returned;
}

const follow = async (edge: FunctionRunnable, returned: unknown, config: Config): Promise<unknown> =>
  await raced(Promise.resolve(edge.func(returned, config)), config.signal);

async function writeChannels({ writes }: ChannelWriter, returned: unknown, config: Config): Promise<void> {
  const written: Write[] = [];
  for (const entry of writes) {
    if (!('mapper' in entry)) written.push([entry.channel, entry.value]);
    else written.push(...(((await entry.mapper.func(returned, config)) as Write[] | null) ?? []));
  }
  config.configurable?.__pregel_send?.(written);
}

/** The branch that LangGraph gives every node, for commands. */
const isControlBranch = (writer: Invokable | undefined): writer is FunctionRunnable =>
  isFunction(writer) && writer.name === '<branch_run>' && !isConditionalEdge(writer);

/** Whether the branch for commands has anything to do: it looks for commands, and for what they send. */
const saysWhereTo = (returned: unknown): boolean =>
  Array.isArray(returned) || (typeof returned === 'object' && returned !== null && 'lg_name' in returned);

const isEdge = (writer: Invokable): writer is FunctionRunnable =>
  isFunction(writer) && (isConditionalEdge(writer) || isChannelWriter(writer));

function isChannelWriter(writer: Invokable | undefined): writer is ChannelWriter {
  return isFunction(writer) && 'writes' in writer && (writer.writes as readonly unknown[]).every(isEntry);
}

function isEntry(entry: unknown): entry is Entry {
  const { channel, value, mapper, ...others } = entry as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length > 0) return false;
  if (mapper !== undefined) return channel === undefined && isFunction(mapper) && isPassthrough(value);
  return typeof channel === 'string' && !isPassthrough(value);
}

const isPassthrough = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && PASSTHROUGH in value;

function isFunction(runnable: unknown): runnable is FunctionRunnable {
  const { trace, func } = (runnable ?? {}) as Partial<FunctionRunnable>;
  return trace === false && typeof func === 'function';
}

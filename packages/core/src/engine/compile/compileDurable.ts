import {
  GraphDrained,
  type LangGraphRunnableConfig,
  type NodeError,
  type StateGraph,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { newEventsOf } from '../../events/events.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { type Breakpoints, NO_BREAKPOINTS } from '../breakpoints/Breakpoint.ts';
import { faultInside } from '../execution/EngineFaults.ts';
import {
  GUARD_CHANNELS,
  GUARD_NAMES,
  guardsIn,
  type NodeExecution,
  nodeExecutionOf,
  type RaisedSuspension,
  readChannels,
  readGuards,
  writeGuards,
} from '../execution/nodeExecution.ts';
import { asThrowable } from '../execution/thrown.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { answerWithAuthor } from '../gates/engineGates.ts';
import { answerForm, type DeclaredGates } from '../gates/parsedGates.ts';
import { type GraphShape, graphShape } from '../graph/graphShape.ts';
import {
  type CompilableBuilder,
  type CompileSettings,
  type EntrypointGraph,
  RETURN_CHANNELS,
} from '../graph/graphSource.ts';
import type { NodeEngine, NodeUpdate } from '../graph/NodeEngine.ts';
import { depthOf } from '../node/depth.ts';
import {
  copyWith,
  foldUpdate,
  guardsAmong,
  isReduced,
  METADATA_KEY,
  mergedState,
  NodeOutput,
  withoutGuards,
} from '../node/nodeOutput.ts';
import { type GuardedNode, guardNode, type NodeFunction } from '../node/runNode.ts';
import { untilWritten } from '../node/stepPlace.ts';
import { callOf, gatedGraph, gatesWithin, isGraph, type NodeRunnable } from './gatedGraph.ts';

/** Far above any guard of ours, so that LangGraph's own limit never fires first (law L7). */
const LANGGRAPH_RECURSION_LIMIT = 1_000_000;

/** Of every call of a durable graph. */
export const ENGINE_CONFIG = {
  durability: 'sync',
  recursionLimit: LANGGRAPH_RECURSION_LIMIT,
  configurable: { __pregel_strict_resume: true },
} as const;

export interface CompileOptions<State> {
  readonly checkpointer: BaseCheckpointSaver;
  readonly engine: NodeEngine<State>;
  readonly gates: DeclaredGates<State>;
  readonly version: string;
  /** What its author compiled it with. @defaultValue nothing */
  readonly carried?: CompileSettings;
}

interface DurableGraph<Builder extends CompilableBuilder> {
  readonly graph: ReturnType<Builder['compile']>;
  readonly shape: GraphShape;
  /** Where a run of it stops. */
  readonly breakpoints: Breakpoints;
}

/**
 * Compiles a guarded copy of `builder` with the engine's defaults, so that raw LangGraph calls have them too.
 *
 * @throws RangeError if the depth limit is not a whole number of at least 1: compared with NaN, no depth is too deep.
 * @throws TypeError if a gate names a node the graph does not have, or a channel has a name of the engine's.
 */
export function compileDurable<
  State extends object,
  Update,
  Name extends string,
  Builder extends CompilableBuilder,
>(
  builder: Builder & StateGraph<unknown, State, Update, Name>,
  { checkpointer, engine, gates, version, carried = {} }: CompileOptions<State>,
): DurableGraph<Builder> {
  assertLimit(engine.maxDepth);
  const nodes = ownNodes(builder.nodes);
  for (const name of gates.keys()) {
    const outermost = name.split(':')[0] ?? '';
    if (!nodes.includes(outermost))
      throw new TypeError(`Cannot add a gate before "${outermost}": there is no such node.`);
  }
  if (engine.profile.declaresGuards !== true) assertNoReservedName(Object.keys(builder.channels));
  const guarded = guardBuilder(builder, gates, engine);
  const { config = {}, breakpoints = NO_BREAKPOINTS, ...named } = carried;
  const stops = { interruptBefore: [...breakpoints.before], interruptAfter: [...breakpoints.after] };
  const compiled = guarded.compile({ ...(named as object), ...(stops as object), checkpointer });
  addGuardChannels(compiled);
  const graph = compiled.withConfig(config).withConfig(ENGINE_CONFIG);
  const channels = [...new Set([...Object.keys(guarded.channels), ...GUARD_NAMES])];
  const declared = Object.fromEntries([...gates.keys()].map((node) => [node, 'node_gate'] as const));
  const shape = graphShape({
    ...{ nodes, channels, version },
    gates: { ...engine.profile.gates, ...declared },
    subgraphs: nodes.filter((name) => isGraph(builder.nodes[name as Name]?.runnable)),
    answers: Object.fromEntries([...gates].map(([name, gate]) => [name, answerForm(gate)])),
  });
  // The copy has the builder's own types; LangGraph's `withConfig` forgets them.
  return { graph: graph as unknown as ReturnType<Builder['compile']>, shape, breakpoints };
}

/** LangGraph adds a node for every error handler, named after the node it is for. */
function ownNodes(nodes: Readonly<Record<string, { readonly isErrorHandler?: boolean }>>): readonly string[] {
  return Object.keys(nodes).filter((name) => nodes[name]?.isErrorHandler !== true);
}

/** Only where the checkpoint is written and read: what LangGraph shows, streams and checks is by the builder's channels. */
export function addGuardChannels({ channels }: { readonly channels: object }): void {
  const missing = GUARD_NAMES.filter((name) => !Object.hasOwn(channels, name));
  Object.assign(channels, Object.fromEntries(missing.map((name) => [name, channelOf(GUARD_CHANNELS[name])])));
}

/** LangGraph's annotations are channels, or functions that make one. */
const channelOf = (annotation: unknown): unknown =>
  typeof annotation === 'function' ? (annotation as () => unknown)() : annotation;

function assertNoReservedName(channels: readonly string[]): void {
  const taken = channels.find(
    (name) => name === METADATA_KEY || (GUARD_NAMES as readonly string[]).includes(name),
  );
  if (taken === undefined) return;
  throw new TypeError(`The channel name "${taken}" is reserved: rename it in the state of the graph.`);
}

export function assertLimit(maxDepth: number): void {
  if (Number.isSafeInteger(maxDepth) && maxDepth >= 1) return;
  throw new RangeError(`maxDepth must be a whole number of at least 1, got ${String(maxDepth)}.`);
}

interface BuilderNode {
  readonly runnable: NodeRunnable;
  readonly cachePolicy?: unknown;
  readonly isErrorHandler?: boolean;
}

interface NodeDefaults {
  readonly errorHandler?: ErrorHandler<never>;
}

/**
 * The fields of LangGraph's builder that a copy has to own. It offers no way to wrap the nodes of an existing
 * builder; a test compares this list with the fields of the installed version.
 */
interface BuilderFields {
  nodes: Record<string, BuilderNode>;
  channels: Readonly<Record<string, unknown>>;
  compiled: boolean;
  _nodeDefaults: NodeDefaults;
  addNode(name: string, run: unknown): unknown;
}

/** A copy of `builder` in which every node passes through the runner; `builder` itself stays as it is. */
function guardBuilder<State extends object, Update, Name extends string>(
  builder: StateGraph<unknown, State, Update, Name>,
  gates: DeclaredGates<State>,
  engine: NodeEngine<State>,
): StateGraph<unknown, State, Update, Name> {
  const original = builder as unknown as BuilderFields;
  const copy = copyBuilder(original);
  copy._nodeDefaults = guardDefaults(original._nodeDefaults, engine);
  const names = Object.keys(original.channels);
  for (const [name, spec] of Object.entries(original.nodes)) {
    if (spec.isErrorHandler === true) {
      replaceNode(copy, name, spec, guardHandlerNode(spec.runnable, engine));
      continue;
    }
    const within = gatesWithin(gates, name);
    const runnable =
      within.size === 0 ? spec.runnable : gatedGraph(spec.runnable, within, { path: name, engine });
    const node: GuardedNode<State> = {
      name,
      run: callOf(runnable),
      gate: gates.get(name) ?? null,
      stateAt: (config) => readChannels(config, names) as State | null,
      fold: (state, writes) => foldUpdate(original.channels, state, writes),
      reduces: (channel) => isReduced(original.channels[channel]),
    };
    const inside = runnable === spec.runnable ? spec : { ...spec, subgraphs: [runnable] };
    // A result from the cache is of nobody's answer: what a human has let go is done.
    const own = node.gate === null && inside === spec ? spec : { ...inside, cachePolicy: false };
    replaceNode(copy, name, own, guardNode(node, engine));
  }
  return copy as unknown as StateGraph<unknown, State, Update, Name>;
}

/** The same node with another body; LangGraph wraps it. */
function replaceNode(copy: BuilderFields, name: string, spec: BuilderNode, run: unknown): void {
  copy.addNode(name, run);
  copy.nodes[name] = { ...spec, runnable: (copy.nodes[name] as BuilderNode).runnable };
}

function copyBuilder(original: BuilderFields): BuilderFields {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(original)), original) as BuilderFields;
  copy.nodes = {};
  copy.compiled = false;
  return copy;
}

function guardDefaults<State extends object>(
  { errorHandler, ...others }: NodeDefaults,
  engine: NodeEngine<State>,
): NodeDefaults {
  if (errorHandler === undefined) return others;
  return { ...others, errorHandler: guardErrorHandler(errorHandler as ErrorHandler<State>, engine) };
}

/** LangGraph's error handler of a graph: what a node threw, after its retries. */
type ErrorHandler<State> = (state: State, error: NodeError, config: LangGraphRunnableConfig) => unknown;

/**
 * Wraps an error handler so that the answer its node was given before it threw is not lost: the handler starts from
 * the checkpoint, which does not have it, and the human would be asked again.
 */
function guardErrorHandler<State extends object>(
  handler: ErrorHandler<State>,
  engine: NodeEngine<State>,
): ErrorHandler<State> {
  return async (state, error, config) => {
    const visit = { ...nodeExecutionOf(error.node, config), guards: readGuards(config) };
    try {
      const taken = answerTaken(state, visit, engine);
      const own = withoutGuards(taken, engine.profile);
      const after = mergedState(state, own);
      const output = new NodeOutput(await handler(after, error, config));
      announceAnswer(state, after, visit, engine);
      const value = output.toReturn({ before: own });
      writeGuards(config, guardsAmong(taken, engine.profile));
      return value;
    } catch (failure) {
      throw whatLeavesTheHandler(failure, visit, engine);
    }
  };
}

/** Where LangGraph tells an error handler what its node threw; a test compares it with the installed version. */
const NODE_ERROR = '__pregel_node_error';

/** {@link guardErrorHandler} for the node that LangGraph adds for a handler of one node: it is told the error in its config. */
function guardHandlerNode<State extends object>(
  runnable: NodeRunnable,
  engine: NodeEngine<State>,
): NodeFunction<State> {
  const call = callOf(runnable);
  const guarded = guardErrorHandler<State>((state, _error, config) => call(state, config), engine);
  return (state, config) => guarded(state, config.configurable?.[NODE_ERROR] as NodeError, config);
}

/** LangGraph would store a fault of the engine as the handler's own error; the handler has to run again instead. */
function whatLeavesTheHandler<State>(
  failure: unknown,
  visit: NodeExecution,
  { faults, profile }: NodeEngine<State>,
): unknown {
  const thrown = asThrowable(failure);
  const fault = faultInside(thrown, visit, profile.surroundings);
  if (fault === null) return thrown;
  faults.put(visit.threadId, fault);
  return new GraphDrained(fault.code);
}

/** What follows from the answer: no later node tells it, because each begins with a state that has it. */
function announceAnswer<State extends object>(
  before: State,
  after: State,
  visit: NodeExecution,
  { runs, profile }: NodeEngine<State>,
): void {
  const scope = { threadId: visit.threadId };
  runs.note(
    visit,
    newEventsOf((emit) => profile.announce(before, after, emit, scope)),
  );
}

/** An error leaves a node that has passed its entry, so a question that was due there has its answer. */
function answerTaken<State extends object>(
  state: State,
  visit: NodeExecution,
  { profile, runs, store, maxDepth }: NodeEngine<State>,
): NodeUpdate<State> {
  const progress = { progressStep: visit.step } as NodeUpdate<State>;
  if (profile.withoutEntryQuestion.has(visit.node)) return runs.humanDecided(visit) ? progress : {};
  const { pendingSuspension } = guardsIn(state, visit);
  if (!pendingSuspension) {
    const wasAskedForDepth = !depthOf(state, visit, maxDepth).isAllowed;
    return wasAskedForDepth || runs.humanDecided(visit) ? progress : {};
  }
  const session = store === null ? null : decidedSession(pendingSuspension, visit, store);
  if (session === null || session.decision === null) return {};
  const question = { ...pendingSuspension, artifactHash: session.artifactHash ?? '' };
  return { ...profile.applyAnswer(state, question, answerWithAuthor(session)).update, ...progress };
}

/** A failure gate's session was there before its question; that of a review has the question's key. */
function decidedSession(
  { sessionId, kind }: RaisedSuspension,
  { threadId }: NodeExecution,
  { sessions }: EngineStore,
): HitlSession | null {
  const isIts = ({ questionKey }: HitlSession): boolean => questionKey === sessionId;
  return sessions.find(sessionId) ?? sessions.listDecided(threadId, kind).findLast(isIts) ?? null;
}

/**
 * A guarded copy of an entrypoint with the engine's defaults: its function is the only node. The entrypoint itself stays as
 * it is.
 *
 * @throws RangeError if the depth limit is not a whole number of at least 1.
 */
export function compileEntrypoint<State extends object>(
  entrypoint: EntrypointGraph,
  { checkpointer, engine, version, carried = {} }: CompileOptions<State>,
) {
  assertLimit(engine.maxDepth);
  const { store, cache } = carried;
  const nodes = Object.fromEntries(
    Object.entries(entrypoint.nodes).map(([name, node]) => [name, guardedNode(name, node, engine)]),
  );
  const copy = copyWith(entrypoint, {
    nodes,
    channels: { ...entrypoint.channels },
    triggerToNodes: {},
    ...{ checkpointer, store, cache },
  });
  addGuardChannels(copy);
  const shape = graphShape({
    ...{ nodes: Object.keys(nodes), channels: [...RETURN_CHANNELS, ...GUARD_NAMES], version },
    gates: engine.profile.gates,
    answers: {},
  });
  return { graph: copy.withConfig(ENGINE_CONFIG), shape, breakpoints: NO_BREAKPOINTS };
}

type EntrypointNode = EntrypointGraph['nodes'][string];

function guardedNode<State extends object>(
  name: string,
  node: EntrypointNode,
  engine: NodeEngine<State>,
): EntrypointNode {
  const { bound } = node;
  const guarded: GuardedNode<State> = {
    name,
    run: (input, config) => bound.func(input, config),
    gate: null,
    returnsValue: true,
    stateAt: () => null,
    fold: (state) => state,
    reduces: () => false,
  };
  const run = guardNode(guarded, engine);
  const func = async (input: unknown, config: LangGraphRunnableConfig): Promise<unknown> => {
    const { checkpointId, frame: threadId } = nodeExecutionOf(name, config);
    if (engine.store !== null && checkpointId !== null)
      await untilWritten({ threadId, checkpointId }, config, engine.store);
    return run(input as State, config);
  };
  return copyWith(node, { bound: copyWith(bound, { func }) });
}

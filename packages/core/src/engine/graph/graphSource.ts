import type { Runnable } from '@langchain/core/runnables';
import type { Command, LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import type { BaseCache, BaseStore } from '@langchain/langgraph-checkpoint';
import { type Breakpoints, breakpointsOf, type CompiledBreakpoints } from '../breakpoints/Breakpoint.ts';

// Graphs of `entrypoint()` in LangGraph's functional API: one node, with a function that calls tasks.

/** Its return value, and the `previous` of its next turn. */
export const RETURN_CHANNELS = ['__end__', '__previous__'] as const;

/** For its types. The channel tells it from other graphs. */
export interface EntrypointSource<Input = unknown, Output = unknown> {
  readonly lg_is_pregel: boolean;
  readonly channels: { readonly __previous__: unknown };
  readonly '~InputType': Input;
  readonly '~OutputType': Output;
}

/** The function of an entrypoint, as LangGraph wraps it. */
export interface EntrypointBody extends Runnable {
  func(input: unknown, config: LangGraphRunnableConfig): unknown;
}

/** The fields of an entrypoint that are read here; a test compares them with the installed version. */
export interface EntrypointGraph {
  readonly lg_is_pregel: true;
  readonly nodes: Readonly<Record<string, { readonly bound: EntrypointBody }>>;
  readonly channels: Readonly<Record<string, unknown>>;
  withConfig(config: object): EntrypointGraph;
}

/** Whether a compiled graph is one of `entrypoint()`. */
export function isEntrypoint(graph: unknown): graph is EntrypointGraph {
  const { lg_is_pregel, builder, channels } = Object(graph) as Partial<EntrypointGraph> & {
    readonly builder?: unknown;
  };
  if (lg_is_pregel !== true || builder !== undefined) return false;
  return RETURN_CHANNELS.every((name) => Object.hasOwn(Object(channels) as object, name));
}

/** A builder, for the type its own `compile` returns: with its input, output and node names. */
export interface CompilableBuilder {
  compile(options?: never): unknown;
}

/** A graph as its author has it: its builder, what `compile` made of that, an agent that has one, or an entrypoint. */
export type GraphSource =
  | CompilableBuilder
  | { readonly builder: CompilableBuilder }
  | { readonly graph: { readonly builder: CompilableBuilder } }
  | EntrypointSource;

type IsEntrypoint<Source> = [Source] extends [never] ? false : Source extends EntrypointSource ? true : false;

/** LangGraph's graph of a source, in the types of its author. */
export type GraphOf<Source> =
  IsEntrypoint<Source> extends true ? Source : ReturnType<BuilderOf<Source>['compile']>;

/** The builder of a source, but for an entrypoint. */
type BuilderOf<Source> = Source extends CompilableBuilder
  ? Source
  : Source extends { readonly builder: infer Builder extends CompilableBuilder }
    ? Builder
    : Source extends { readonly graph: { readonly builder: infer Builder extends CompilableBuilder } }
      ? Builder
      : never;

type TypesOf<Source> =
  BuilderOf<Source> extends StateGraph<
    infer _Definition,
    infer State,
    infer Update,
    infer Name,
    infer _Input,
    infer _Output,
    infer _Context,
    infer _Returned,
    infer _Interrupt,
    infer _Written
  >
    ? { readonly state: State; readonly update: Update; readonly name: Name }
    : { readonly state: object; readonly update: object; readonly name: string };

/** An agent of `createAgent`: its `invoke` has its types. */
interface Agent<Input = never, State = unknown> {
  readonly graph: { readonly builder: CompilableBuilder };
  invoke(input: Input, ...more: never): Promise<State>;
}

type IsAgent<Source> = [Source] extends [never] ? false : Source extends Agent ? true : false;

/** The input of its nodes; of an entrypoint its return value. */
export type StateOf<Source> =
  IsEntrypoint<Source> extends true
    ? OutputOfEntrypoint<Source>
    : IsAgent<Source> extends true
      ? Source extends Agent<never, infer State>
        ? State & object
        : never
      : TypesOf<Source>['state'] & object;

/** The input of a run. */
export type UpdateOf<Source> =
  IsEntrypoint<Source> extends true
    ? Source extends EntrypointSource<infer Input>
      ? Input
      : never
    : IsAgent<Source> extends true
      ? Source extends { invoke(input: infer Input, ...more: never): unknown }
        ? Exclude<Input, Command | null>
        : never
      : TypesOf<Source>['update'];

/** The return value of its `invoke`; the state, where its type does not know the names in it. */
export type OutputOf<Source> =
  IsEntrypoint<Source> extends true
    ? OutputOfEntrypoint<Source>
    : IsAgent<Source> extends true
      ? StateOf<Source>
      : OutputOfGraph<Source>;

/** The value of `entrypoint.final`, where it returns that. */
type OutputOfEntrypoint<Source> =
  Source extends EntrypointSource<unknown, infer Output> ? Awaited<Output> : never;

type OutputOfGraph<Source> =
  BuilderOf<Source> extends { compile(options?: never): { invoke(...given: never): Promise<infer Output> } }
    ? string extends keyof Output
      ? StateOf<Source>
      : Output
    : StateOf<Source>;

/** The nodes its type knows: of a builder that is filled step by step none, and then any name may be one. */
export type NameOf<Source> =
  IsEntrypoint<Source> extends true
    ? never
    : [Exclude<TypesOf<Source>['name'], typeof START>] extends [never]
      ? string
      : Exclude<TypesOf<Source>['name'], typeof START>;

/** What its author compiled a graph with, besides the checkpointer, which is the engine's. */
export interface CompileSettings {
  readonly store?: BaseStore;
  readonly cache?: BaseCache;
  readonly name?: string;
  readonly description?: string;
  readonly config?: object;
  /** Where it stops; not before a node that has a gate, which asks the same. */
  readonly breakpoints?: Breakpoints;
}

interface SourceBuilder {
  readonly nodes: Readonly<Record<string, { readonly isErrorHandler?: boolean }>>;
}

/** The fields of LangGraph's compiled graph that are read here; a test compares them with the installed version. */
interface CompiledFields extends Omit<CompileSettings, 'breakpoints'>, CompiledBreakpoints {
  readonly lg_is_pregel: true;
  readonly builder?: unknown;
}

/** A builder, or an entrypoint. */
export type ReadSource<State, Update, Name extends string> =
  | { readonly builder: StateGraph<unknown, State, Update, Name>; readonly carried: CompileSettings }
  | { readonly entrypoint: EntrypointGraph; readonly carried: CompileSettings };

export const madeByAuthor = (read: { readonly entrypoint: object } | { readonly builder: object }): object =>
  'entrypoint' in read ? read.entrypoint : read.builder;

/**
 * The builder of a graph, or an entrypoint, with the settings of its author.
 *
 * @throws TypeError for anything else.
 */
export function readGraphSource<State, Update, Name extends string>(
  given: unknown,
  gates: object = {},
): ReadSource<State, Update, Name> {
  if (isBuilder(given)) return { builder: given as StateGraph<unknown, State, Update, Name>, carried: {} };
  const source = isCompiled(given) ? given : graphOf(given);
  const { builder, store, cache, name, description, config } = source;
  const carried = {
    ...(store !== undefined && { store }),
    ...(cache !== undefined && { cache }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  };
  if (isEntrypoint(source)) return { entrypoint: source, carried };
  if (!isBuilder(builder)) throw new TypeError(NO_GRAPH);
  const breakpoints = stopsOf(source, builder as SourceBuilder, gates);
  return {
    builder: builder as StateGraph<unknown, State, Update, Name>,
    carried: { ...carried, ...(config !== undefined && { config }), breakpoints },
  };
}

const NO_GRAPH = 'Expected a StateGraph, compiled or not, or an entrypoint.';

/** Of an agent as `createAgent` makes it: the graph it calls. */
function graphOf(agent: unknown): CompiledFields {
  const { graph } = Object(agent) as { readonly graph?: unknown };
  if (isCompiled(graph)) return graph;
  throw new TypeError(NO_GRAPH);
}

function stopsOf(source: CompiledBreakpoints, { nodes }: SourceBuilder, gates: object): Breakpoints {
  const own = Object.keys(nodes).filter((name) => nodes[name]?.isErrorHandler !== true);
  const { before, after } = breakpointsOf(source, own);
  return { before: before.filter((node) => !Object.hasOwn(gates, node)), after };
}

const isBuilder = (source: unknown): boolean =>
  isObjectValue(source) && typeof source['compile'] === 'function' && isObjectValue(source['channels']);

const isCompiled = (source: unknown): source is CompiledFields =>
  isObjectValue(source) && source['lg_is_pregel'] === true;

const isObjectValue = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

import type { Command, START, StateGraph } from '@langchain/langgraph';
import type { BaseCache, BaseStore } from '@langchain/langgraph-checkpoint';
import { type Breakpoints, breakpointsOf, type CompiledBreakpoints } from '../breakpoints/Breakpoint.ts';

/** A builder, for the type its own `compile` returns: with its input, output and node names. */
export interface CompilableBuilder {
  compile(options?: never): unknown;
}

/** A graph as its author has it: its builder, what `compile` made of that, or an agent that has one as its `graph`. */
export type GraphSource =
  | CompilableBuilder
  | { readonly builder: CompilableBuilder }
  | { readonly graph: { readonly builder: CompilableBuilder } };

/** The builder of a source. */
export type BuilderOf<Source> = Source extends CompilableBuilder
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

/** The input of its nodes. */
export type StateOf<Source> =
  IsAgent<Source> extends true
    ? Source extends Agent<never, infer State>
      ? State & object
      : never
    : TypesOf<Source>['state'] & object;

/** The input of a run. */
export type UpdateOf<Source> =
  IsAgent<Source> extends true
    ? Source extends { invoke(input: infer Input, ...more: never): unknown }
      ? Exclude<Input, Command | null>
      : never
    : TypesOf<Source>['update'];

/** The return value of its `invoke`; the state, where its type does not know the names in it. */
export type OutputOf<Source> = IsAgent<Source> extends true ? StateOf<Source> : OutputOfGraph<Source>;

type OutputOfGraph<Source> =
  BuilderOf<Source> extends { compile(options?: never): { invoke(...given: never): Promise<infer Output> } }
    ? string extends keyof Output
      ? StateOf<Source>
      : Output
    : StateOf<Source>;

/** The nodes its type knows: of a builder that is filled step by step none, and then any name may be one. */
export type NameOf<Source> = [Exclude<TypesOf<Source>['name'], typeof START>] extends [never]
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

/**
 * The builder of a graph, and what else it was compiled with.
 *
 * @throws TypeError with the way out for what has no builder.
 */
export function readGraphSource<State, Update, Name extends string>(
  given: unknown,
  gates: object = {},
): { readonly builder: StateGraph<unknown, State, Update, Name>; readonly carried: CompileSettings } {
  if (isBuilder(given)) return { builder: given as StateGraph<unknown, State, Update, Name>, carried: {} };
  const source = isCompiled(given) ? given : graphOf(given);
  const { builder } = source;
  if (!isBuilder(builder)) throw new TypeError(NO_BUILDER);
  const { store, cache, name, description, config } = source;
  const carried = {
    ...(store !== undefined && { store }),
    ...(cache !== undefined && { cache }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(config !== undefined && { config }),
    breakpoints: stopsOf(source, builder as SourceBuilder, gates),
  };
  return { builder: builder as StateGraph<unknown, State, Update, Name>, carried };
}

const NO_BUILDER =
  'A graph made by entrypoint() has no nodes to record: make its function a node of a StateGraph, and ' +
  'each task() it calls a step() in that node.';

/** Of an agent as `createAgent` makes it: the graph it calls. */
function graphOf(agent: unknown): CompiledFields {
  const { graph } = Object(agent) as { readonly graph?: unknown };
  if (isCompiled(graph)) return graph;
  throw new TypeError('Expected a StateGraph, compiled or not.');
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

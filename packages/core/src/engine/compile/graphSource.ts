import type { StateGraph } from '@langchain/langgraph';
import { type Breakpoints, breakpointsOf, type CompiledBreakpoints } from '../stops/Breakpoints.ts';

/** A graph as its author has it: its builder, or what `compile` made of that. */
export type GraphSource<Builder, State, Update, Name extends string> =
  | (Builder & StateGraph<unknown, State, Update, Name>)
  | { readonly builder: Builder & StateGraph<unknown, State, Update, Name> };

/** What its author compiled a graph with, besides the checkpointer, which is the engine's. */
export interface Carried {
  readonly store?: unknown;
  readonly name?: string;
  readonly description?: string;
  readonly config?: object;
  /** Where it stops; not before a node that has a gate, which asks the same. */
  readonly breakpoints?: Breakpoints;
}

interface BuilderFields {
  readonly nodes: Readonly<Record<string, { readonly isErrorHandler?: boolean }>>;
}

/** The fields of LangGraph's compiled graph that are read here; a test compares them with the installed version. */
interface CompiledFields extends Omit<Carried, 'breakpoints'>, CompiledBreakpoints {
  readonly lg_is_pregel: true;
  readonly builder?: unknown;
}

/**
 * The builder of a graph, and what else it was compiled with.
 *
 * @throws TypeError with the way out for what has no builder.
 */
export function takeGraph<Builder, State, Update, Name extends string>(
  source: GraphSource<Builder, State, Update, Name>,
  gates: object = {},
): { readonly builder: Builder & StateGraph<unknown, State, Update, Name>; readonly carried: Carried } {
  if (isBuilder(source))
    return { builder: source as Builder & StateGraph<unknown, State, Update, Name>, carried: {} };
  if (!isCompiled(source)) throw noGraph(source);
  const { builder } = source as { readonly builder?: unknown };
  if (!isBuilder(builder)) throw new TypeError(NO_BUILDER);
  const { store, name, description, config } = source;
  const carried = {
    ...(store !== undefined && { store }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(config !== undefined && { config }),
    breakpoints: stopsOf(source, builder as BuilderFields, gates),
  };
  return { builder: builder as Builder & StateGraph<unknown, State, Update, Name>, carried };
}

const NO_BUILDER =
  'A graph made by entrypoint() has no nodes that could be recorded: make its function a node of a StateGraph, and ' +
  'each task() it calls a step() in that node.';

function noGraph(source: unknown): TypeError {
  const inner = (Object(source) as { readonly graph?: unknown }).graph;
  if (isCompiled(inner))
    return new TypeError('Expected a graph, got an agent that has one: pass its `graph`.');
  return new TypeError('Expected a StateGraph, or what its compile() returns.');
}

function stopsOf(source: CompiledBreakpoints, { nodes }: BuilderFields, gates: object): Breakpoints {
  const own = Object.keys(nodes).filter((name) => nodes[name]?.isErrorHandler !== true);
  const { before, after } = breakpointsOf(source, own);
  return { before: before.filter((node) => !Object.hasOwn(gates, node)), after };
}

const isBuilder = (source: unknown): boolean =>
  isObject(source) && typeof source['compile'] === 'function' && isObject(source['channels']);

const isCompiled = (source: unknown): source is CompiledFields =>
  isObject(source) && source['lg_is_pregel'] === true;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

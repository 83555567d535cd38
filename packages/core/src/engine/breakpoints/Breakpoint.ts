// Breakpoints: where a graph was compiled to stop, the one that a checkpoint stands at, and the gate that shows it.

import type { Checkpoint, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { sha256Hex } from '../../values/canonicalJson.ts';
import { showableValues } from '../../values/showable.ts';

/** Where a graph was compiled to stop: LangGraph's `interruptBefore` and `interruptAfter`, as names of its nodes. */
export interface Breakpoints {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export const NO_BREAKPOINTS: Breakpoints = { before: [], after: [] };

/** As LangGraph keeps them on a compiled graph; a test compares the names with the installed version. */
export interface CompiledBreakpoints {
  readonly interruptBefore?: readonly string[] | '*';
  readonly interruptAfter?: readonly string[] | '*';
}

/** By name; `*` is every node of the graph. */
export function breakpointsOf(
  { interruptBefore = [], interruptAfter = [] }: CompiledBreakpoints,
  nodes: readonly string[],
): Breakpoints {
  const named = (names: readonly string[] | '*'): readonly string[] => (names === '*' ? nodes : names);
  return { before: named(interruptBefore), after: named(interruptAfter) };
}

/** Where a run stands: LangGraph's own stop, shown to a human. Plain JSON. */
export interface Breakpoint {
  readonly breakpoint: {
    /** Names of the nodes on the way to the graph that stopped; empty for the run's own. */
    readonly graph: readonly string[];
    /** Absent for a graph that a function calls: which of the two it is, only that graph knows. */
    readonly when?: 'before' | 'after';
    /** The nodes it was compiled to stop before or after. */
    readonly nodes: readonly string[];
    /** What runs once it is answered; none where the graph ends. */
    readonly next: readonly string[];
  };
  /** Of the graph that stopped. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** A stop as an interrupt, of a graph inside a node: with what its id is made of. */
export interface InnerBreakpoint extends Breakpoint {
  readonly at: BreakpointPlace;
}

/** A super-step of a graph. The same one after a crash, whose checkpoint may have another id then. */
export interface BreakpointPlace {
  readonly thread: string;
  readonly checkpointNs: string;
  readonly step: number;
}

/** The id of the interrupt that a stop inside a node is: 32 hex digits, as LangGraph's. */
export function breakpointId({ thread, checkpointNs, step }: BreakpointPlace): string {
  return sha256Hex(JSON.stringify(['stop', thread, checkpointNs, step])).slice(0, 32);
}

/** Told by its id, which no other interrupt can have. */
export function isInnerBreakpoint(id: string, value: unknown): value is InnerBreakpoint {
  const at = (value as Partial<InnerBreakpoint> | null)?.at;
  return typeof at === 'object' && at !== null && breakpointId(at) === id;
}

export const stopsSomewhere = ({ before, after }: Breakpoints): boolean => before.length + after.length > 0;

/** The question in one sentence. */
export function breakpointMessage({ breakpoint: { graph, when, nodes } }: Breakpoint): string {
  const where = graph.length === 0 ? '' : ` in "${graph.join('/')}"`;
  const names = nodes.map((node) => `"${node}"`).join(', ') || 'its end';
  return `The graph stopped ${when ?? 'at'} ${names}${where}. Answer with any value to continue, or \`false\` to end the run.`;
}

/** Whether an answer to a stop is a no. There is no call it could be returned to. */
export const isRejection = (decision: unknown): boolean =>
  (decision as { readonly value?: unknown } | null)?.value === false;

/** Why a run ends whose human said no. @param question - As its session keeps it. */
export function rejectedReason(question: unknown): string {
  const { breakpoint } = (question as { readonly artifact: Breakpoint }).artifact;
  const { when, nodes } = breakpoint;
  return `rejected: the breakpoint ${when ?? 'at'} ${nodes.map((node) => `"${node}"`).join(', ') || 'the end'}`;
}

/** What a graph's author sees of a checkpoint: its channels, not LangGraph's. */
export function ownValues({ channel_values: values }: Checkpoint): Readonly<Record<string, unknown>> {
  const own = Object.entries(values).filter(([name]) => !/^(?:branch:|join:|__)/.test(name));
  return showableValues(Object.fromEntries(own));
}

type BreakpointTiming = Pick<Breakpoint['breakpoint'], 'nodes'> & { readonly when: 'before' | 'after' };

interface PossibleBreakpoint {
  readonly tuple: CheckpointTuple;
  /** The checkpoint before it; `undefined` where it was pruned. */
  readonly parent: CheckpointTuple | undefined;
  /** Nodes that run next. @defaultValue as the checkpoint tells it */
  readonly next?: readonly string[];
}

/**
 * The stop a checkpoint stands at by LangGraph's rule: after what ran, else before what runs; `null` where it goes on.
 * Where nobody knows any more what ran, it stops.
 */
export function dueBreakpoint(
  { before, after }: Breakpoints,
  { tuple, parent, next = nextNodes(tuple.checkpoint) }: PossibleBreakpoint,
): BreakpointTiming | null {
  if (after.length > 0 && tuple.metadata?.source === 'loop') {
    const ran = parent === undefined ? after : nextNodes(parent.checkpoint);
    const nodes = after.filter((node) => ran.includes(node));
    if (nodes.length > 0) return { when: 'after', nodes };
  }
  const nodes = before.filter((node) => next.includes(node));
  return nodes.length > 0 ? { when: 'before', nodes } : null;
}

/** The fields of LangGraph's builders and graphs that are read here. */
interface Builder {
  readonly nodes: Readonly<Record<string, InnerBuilderNode>>;
}

interface InnerBuilderNode {
  readonly runnable?: unknown;
  readonly subgraphs?: readonly unknown[];
}

interface InnerCompiledGraph extends CompiledBreakpoints {
  readonly lg_is_pregel: true;
  readonly builder?: Builder;
}

/** Breakpoints of the graphs inside a graph, by the names of the nodes that lead to them: `sub`, `sub|inner`. */
export type InnerBreakpoints = ReadonlyMap<string, Breakpoints>;

/**
 * The breakpoints of graphs that are nodes, or that a node names as its `subgraphs`; at any depth. What a function calls
 * without naming it is not among them.
 */
export function innerBreakpoints(builder: unknown): InnerBreakpoints {
  return new Map(foundBreakpoints(builder as Builder, ''));
}

function foundBreakpoints({ nodes }: Builder, path: string): readonly (readonly [string, Breakpoints])[] {
  return Object.entries(nodes).flatMap(([name, { runnable, subgraphs }]) =>
    graphsAmong(subgraphs?.length ? subgraphs : [runnable]).flatMap((graph) => {
      const own = graph.builder ?? { nodes: {} };
      const below = `${path}${name}`;
      const entry = [below, breakpointsOf(graph, Object.keys(own.nodes))] as const;
      return [entry, ...foundBreakpoints(own, `${below}|`)];
    }),
  );
}

/** Runnables in a row may have a graph among them. */
function graphsAmong(candidates: readonly unknown[]): readonly InnerCompiledGraph[] {
  return candidates.flatMap((candidate) => {
    const { lg_is_pregel: isGraph, steps } = Object(candidate) as {
      readonly lg_is_pregel?: unknown;
      readonly steps?: unknown;
    };
    if (isGraph === true) return [candidate as InnerCompiledGraph];
    return Array.isArray(steps) ? graphsAmong(steps) : [];
  });
}

/** Names on the way to a checkpoint's namespace: `sub:8f3a…|1|inner:…` is `sub|inner`; a number is a further call. */
export function namespacePath(checkpointNs: string): readonly string[] {
  return checkpointNs
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0] ?? '');
}

/** LangGraph's channels that call a node: an edge or a branch, and an edge that waits for several nodes. */
export const TRIGGER = /^(?:branch:to:|join:(?<starts>.*):)(?<node>.+)$/s;

/** A channel that was consumed has no value; an edge that waits for several nodes holds the names of those that ran. */
export function callsItsNode(value: unknown, starts: string | undefined): boolean {
  if (starts === undefined) return value !== undefined;
  if (!Array.isArray(value)) return false;
  const [first] = value as readonly unknown[];
  const ran: readonly unknown[] = Array.isArray(first) ? first : value; // beside whether the graph has finished
  return ran.length === starts.split('+').length;
}

/** LangGraph's channel of what was sent. */
const TASKS = '__pregel_tasks';

/** The nodes that run next, as a checkpoint itself tells it: by edges, and by what is sent. */
export function nextNodes({
  channel_values,
  channel_versions,
  versions_seen,
}: Checkpoint): readonly string[] {
  const called = Object.entries(channel_versions).flatMap(([channel, version]) => {
    const { node, starts } = TRIGGER.exec(channel)?.groups ?? {};
    if (node === undefined || !callsItsNode(channel_values[channel], starts)) return [];
    return versions_seen[node]?.[channel] === version ? [] : [node];
  });
  const sends: unknown = channel_values[TASKS];
  const sentTo = (Array.isArray(sends) ? sends.flat() : []).map((send) => String(Object(send).node));
  return [...new Set([...called, ...sentTo])];
}

import type { Checkpoint } from '@langchain/langgraph-checkpoint';
import { sha256Hex } from '../../state/canonicalJson.ts';
import { plainValues } from './plainValues.ts';

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
  return plainValues(Object.fromEntries(own));
}

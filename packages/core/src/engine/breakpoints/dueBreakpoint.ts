import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { Breakpoint } from './Breakpoint.ts';
import type { Breakpoints } from './Breakpoints.ts';
import { nextNodes } from './nextNodes.ts';

type BreakpointTiming = Pick<Breakpoint['breakpoint'], 'nodes'> & { readonly when: 'before' | 'after' };

export interface PossibleBreakpoint {
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

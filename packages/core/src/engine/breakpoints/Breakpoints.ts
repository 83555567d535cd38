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

import fc from 'fast-check';

/** What a node does before it leaves. Graphs are named by their index in the program. */
export type Act =
  | { readonly act: 'ask' }
  | { readonly act: 'wait' }
  | { readonly act: 'recurse'; readonly graph: number }
  /** Several `recurse` under one `Promise.all`. */
  | { readonly act: 'together'; readonly graphs: readonly number[] }
  | { readonly act: 'recurseAll'; readonly graphs: readonly number[] };

/** How a node leaves. Targets are offsets to later nodes; what lies behind the last one is the end. */
export type Exit =
  | { readonly exit: 'edges'; readonly to: readonly number[] }
  | { readonly exit: 'route'; readonly to: readonly number[] }
  | { readonly exit: 'send'; readonly to: number; readonly copies: number }
  | { readonly exit: 'command'; readonly to: readonly number[]; readonly copies: number }
  /** Back to an earlier node until this one has had `rounds` visits. */
  | { readonly exit: 'loop'; readonly back: number; readonly rounds: number };

export interface NodeSpec {
  readonly acts: readonly Act[];
  readonly exit: Exit;
  /** Throws on its first attempt, after its acts; a retry policy tries again. */
  readonly fails: boolean;
  /** LangGraph's `defer`: runs when nothing else is left. */
  readonly defer: boolean;
  /** The node is the compiled next graph of the program itself. */
  readonly isGraph: boolean;
}

export interface GraphSpec {
  readonly starts: readonly number[];
  readonly nodes: readonly NodeSpec[];
  /** An edge that waits for the first two nodes and leads to the last one. */
  readonly joins: boolean;
}

/** Graphs that run each other, and the input of the first. */
export interface Program {
  readonly graphs: readonly GraphSpec[];
  readonly seed: number;
  /** Frames that may nest below the outermost one. */
  readonly levels: number;
  /** Frames in all, about. */
  readonly budget: number;
}

const MAX_GRAPHS = 3;
const graphIndex = fc.nat(MAX_GRAPHS - 1);
const children = fc.array(graphIndex, { minLength: 1, maxLength: 2 });
const offsets = fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 });
const copies = fc.integer({ min: 1, max: 2 });

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ act: 'ask' } as const) },
  { weight: 1, arbitrary: fc.constant({ act: 'wait' } as const) },
  { weight: 5, arbitrary: fc.record({ act: fc.constant('recurse' as const), graph: graphIndex }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('together' as const), graphs: children }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('recurseAll' as const), graphs: children }) },
);

const exit: fc.Arbitrary<Exit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ exit: fc.constant('edges' as const), to: offsets }) },
  { weight: 2, arbitrary: fc.record({ exit: fc.constant('route' as const), to: offsets }) },
  {
    weight: 2,
    arbitrary: fc.record({ exit: fc.constant('send' as const), to: fc.integer({ min: 1, max: 2 }), copies }),
  },
  { weight: 2, arbitrary: fc.record({ exit: fc.constant('command' as const), to: offsets, copies }) },
  {
    weight: 1,
    arbitrary: fc.record({
      exit: fc.constant('loop' as const),
      back: fc.nat(2),
      rounds: fc.integer({ min: 2, max: 3 }),
    }),
  },
);

const oneIn = (n: number): fc.Arbitrary<boolean> => fc.nat(n - 1).map((value) => value === n - 1);

const node: fc.Arbitrary<NodeSpec> = fc.record({
  acts: fc.array(act, { maxLength: 2 }),
  exit,
  fails: oneIn(8),
  defer: oneIn(10),
  isGraph: oneIn(12),
});

const graph: fc.Arbitrary<GraphSpec> = fc.record({
  starts: fc.uniqueArray(fc.nat(1), { minLength: 1, maxLength: 2 }),
  nodes: fc.array(node, { minLength: 1, maxLength: 3 }),
  joins: oneIn(3),
});

export const programs: fc.Arbitrary<Program> = fc.record({
  graphs: fc.array(graph, { minLength: 1, maxLength: MAX_GRAPHS }),
  seed: fc.nat(),
  levels: fc.constantFrom(0, 1, 2, 3, 6, 6),
  budget: fc.integer({ min: 4, max: 12 }),
});

import { HumanMessage } from '@langchain/core/messages';
import { Annotation, Command, END, Overwrite, Send, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import type { Given } from '../../../test/support/besideLangGraph.ts';

/** Where a node or an edge leads: to a later node, so that every graph ends. */
type To = { readonly ahead: number } | { readonly ahead: number; readonly payload: unknown };

/** What is written: names in order, the same one several times. */
type Writes = readonly (readonly [string, unknown])[];

type Output =
  | { readonly kind: 'raw'; readonly value: unknown }
  | { readonly kind: 'update'; readonly writes: Writes }
  | {
      readonly kind: 'command';
      readonly writes: Writes;
      readonly pairs: boolean;
      readonly goto: readonly To[];
    }
  | { readonly kind: 'throws'; readonly message: string };

interface RandomNode {
  readonly outputs: readonly Output[];
  /** More than one output, or one in a list. */
  readonly isList: boolean;
  readonly edges: readonly number[];
  readonly conditional: readonly To[] | null;
  readonly ownInput: boolean;
}

export interface RandomGraph {
  readonly nodes: readonly RandomNode[];
  readonly starts: readonly number[];
}

const payloads = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string().map((text) => new HumanMessage(text)),
  fc.array(
    fc.string().map((text) => new HumanMessage(text)),
    { maxLength: 2 },
  ),
  fc.array(fc.tuple(fc.string(), fc.integer()), { maxLength: 3 }).map((entries) => new Map(entries)),
  fc.array(fc.integer(), { maxLength: 3 }).map((items) => new Set(items)),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 4 }),
);

const ahead = fc.integer({ min: 1, max: 3 });
const to: fc.Arbitrary<To> = fc.oneof(fc.record({ ahead }), fc.record({ ahead, payload: payloads }));

const write: fc.Arbitrary<readonly [string, unknown]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('log'), fc.array(fc.string(), { maxLength: 2 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('sum'), fc.integer({ min: -9, max: 9 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('last', 'note', 'unknown', 'progressStep'), payloads) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('log'), fc.constant(new Overwrite(['anew']))) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('log'), fc.constant(5)) },
);
const writes = fc.array(write, { maxLength: 3 });

const outputs: fc.Arbitrary<Output> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('update' as const), writes }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('command' as const),
      writes,
      pairs: fc.boolean(),
      goto: fc.array(to, { maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('raw' as const),
      value: fc.oneof(fc.constantFrom(undefined, null, false, 0, '', [], 'text', 7, true), payloads),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('throws' as const), message: fc.string() }) },
);

const node: fc.Arbitrary<RandomNode> = fc.record({
  outputs: fc.array(outputs, { minLength: 1, maxLength: 3 }),
  isList: fc.boolean(),
  edges: fc.uniqueArray(ahead, { maxLength: 2 }),
  conditional: fc.option(fc.array(to, { minLength: 1, maxLength: 3 })),
  ownInput: fc.boolean(),
});

export const randomGraphs: fc.Arbitrary<RandomGraph> = fc.record({
  nodes: fc.array(node, { minLength: 1, maxLength: 5 }),
  starts: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 2 }),
});

const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  sum: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
  last: Annotation<unknown>(),
  note: Annotation<unknown>(),
});
const OwnInput = Annotation.Root({ log: State.spec.log, note: State.spec.note });

/** A builder without its types: names are known only when it runs. */
interface LooseBuilder {
  addNode(name: string, run: (state: unknown) => unknown, options: object): unknown;
  addEdge(from: string, to: string): unknown;
  addConditionalEdges(from: string, route: () => unknown): unknown;
}

/** The graph a description stands for; each node tells what it is given. */
export function buildGraph({ nodes, starts }: RandomGraph, given: Given): unknown {
  const builder = new StateGraph(State) as unknown as LooseBuilder;
  const nameAt = (at: number): string => (at < nodes.length ? `n${at}` : END);
  const everyNode = [...nodes.map((_, at) => nameAt(at)), END];
  for (const [at, { ownInput, ...node }] of nodes.entries()) {
    const run = (state: unknown): unknown => {
      given(nameAt(at), state);
      return returned(node, (step) => nameAt(at + step));
    };
    builder.addNode(nameAt(at), run, { ends: everyNode, ...(ownInput && { input: OwnInput }) });
  }
  for (const start of new Set(starts.map((start) => start % nodes.length)))
    builder.addEdge(START, nameAt(start));
  for (const [at, { edges, conditional }] of nodes.entries()) {
    for (const next of new Set(edges.map((step) => nameAt(at + step)))) builder.addEdge(nameAt(at), next);
    if (conditional === null) continue;
    builder.addConditionalEdges(nameAt(at), () =>
      conditional.map((way) => wayOf(way, (step) => nameAt(at + step))),
    );
  }
  return builder;
}

type NameAhead = (step: number) => string;

function returned({ outputs, isList }: Pick<RandomNode, 'outputs' | 'isList'>, name: NameAhead): unknown {
  const values = outputs.map((output) => outputOf(output, name));
  return isList ? values : values[0];
}

function outputOf(output: Output, name: NameAhead): unknown {
  if (output.kind === 'raw') return output.value;
  if (output.kind === 'throws') throw new RangeError(output.message);
  const update = Object.fromEntries(output.writes);
  if (output.kind === 'update') return update;
  const goto = output.goto.map((way) => wayOf(way, name));
  return new Command({ goto, update: output.pairs ? (output.writes as [string, unknown][]) : update });
}

/** Nothing can be sent to the end. */
function wayOf(way: To, name: NameAhead): string | Send {
  const target = name(way.ahead);
  return 'payload' in way && target !== END ? new Send(target, way.payload) : target;
}

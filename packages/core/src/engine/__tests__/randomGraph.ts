import { HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  Overwrite,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import fc from 'fast-check';
import { described } from '../../../test/programs/described.ts';
import type { Given } from '../../../test/support/besideLangGraph.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';

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

/** What is done in one place, in order. It throws so many times at its end, and is retried. */
interface Work {
  readonly acts: readonly ('call' | 'ask')[];
  readonly fails: number;
}

/** A chain of nodes in a graph of its own: it is the node, or the node calls it. */
interface Inside {
  readonly chain: readonly Work[];
  readonly isNode: boolean;
}

export interface RandomNode {
  readonly work: Work;
  readonly inside: Inside | null;
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

const calmWrite: fc.Arbitrary<readonly [string, unknown]> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constant('log'), fc.array(fc.string(), { maxLength: 2 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('sum'), fc.integer({ min: -9, max: 9 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('last', 'note'), payloads) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('log'), fc.constant(new Overwrite(['anew']))) },
);

/** Also what LangGraph refuses. */
const anyWrite: typeof calmWrite = fc.oneof(
  { weight: 7, arbitrary: calmWrite },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('unknown', 'progressStep'), payloads) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('log'), fc.constant(5)) },
);

interface Weights {
  readonly write: typeof calmWrite;
  /** What may be returned that is no update. */
  readonly raw: fc.Arbitrary<unknown>;
  /** Of good outputs to one that throws. */
  readonly good: number;
}

const outputsOf = ({ write, raw, good }: Weights): fc.Arbitrary<Output> => {
  const writes = fc.array(write, { maxLength: 3 });
  const goto = fc.array(to, { maxLength: 2 });
  return fc.oneof(
    { weight: good, arbitrary: fc.record({ kind: fc.constant('update' as const), writes }) },
    {
      weight: good,
      arbitrary: fc.record({ kind: fc.constant('command' as const), writes, pairs: fc.boolean(), goto }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('raw' as const), value: raw }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('throws' as const), message: fc.string() }) },
  );
};

const anyOutput = outputsOf({
  write: anyWrite,
  raw: fc.oneof(fc.constantFrom(undefined, null, false, 0, '', [], 'text', 7, true), payloads),
  good: 6,
});

const calmOutput = outputsOf({ write: calmWrite, raw: fc.constantFrom(undefined, null), good: 12 });

/** Of a node, before its failure is the run's. */
const MAX_ATTEMPTS = 3;

const noWork: fc.Arbitrary<Work> = fc.constant({ acts: [], fails: 0 });

const work: fc.Arbitrary<Work> = fc.record({
  acts: fc.array(fc.constantFrom('call', 'ask'), { maxLength: 3 }),
  fails: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.nat(MAX_ATTEMPTS - 1) },
  ),
});

const inside: fc.Arbitrary<Inside> = fc.record({
  chain: fc.array(work, { minLength: 1, maxLength: 2 }),
  isNode: fc.boolean(),
});

const bare = {
  outputs: fc.array(anyOutput, { minLength: 1, maxLength: 3 }),
  isList: fc.boolean(),
  edges: fc.uniqueArray(ahead, { maxLength: 2 }),
  conditional: fc.option(fc.array(to, { minLength: 1, maxLength: 3 })),
  ownInput: fc.boolean(),
};

const graphsOf = (node: fc.Arbitrary<RandomNode>): fc.Arbitrary<RandomGraph> =>
  fc.record({
    nodes: fc.array(node, { minLength: 1, maxLength: 5 }),
    starts: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 2 }),
  });

/** Of nodes that only return something. */
export const randomGraphs = graphsOf(fc.record({ ...bare, work: noWork, inside: fc.constant(null) }));

/** Of nodes that also make calls, ask, fail and run graphs of their own, and seldom end the run. */
export const workingGraphs = graphsOf(
  fc.record({
    ...bare,
    outputs: fc.array(calmOutput, { minLength: 1, maxLength: 2 }),
    work,
    inside: fc.option(inside, { freq: 3 }),
  }),
);

/** Whether two nodes may throw side by side: which of them the run fails with is a matter of moments. */
export function mayThrowTwice({ nodes }: RandomGraph): boolean {
  const throwing = nodes.filter(
    ({ outputs, inside }) => inside?.isNode === true || outputs.some(({ kind }) => kind === 'throws'),
  );
  return throwing.length > 1;
}

const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  sum: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
  last: Annotation<unknown>(),
  note: Annotation<unknown>(),
});
const OwnInput = Annotation.Root({ log: State.spec.log, note: State.spec.note });

/** Thrown and retried. */
export class Flaky extends Error {
  override readonly name = 'Flaky';
}

const RETRIED = {
  maxAttempts: MAX_ATTEMPTS,
  initialInterval: 1,
  jitter: false,
  logWarning: false,
  retryOn: (error: unknown) => error instanceof Flaky,
} as const;

/** The outside world of a graph that works. */
export interface Working {
  /** A call, in a step where the graph is durable. `task` is LangGraph's innermost one; `what` follows from all before. */
  call(name: string, about: { readonly task: string; readonly what: string }): Promise<string>;
  /** Whether the work of a task fails once more, of so many times in all. */
  fails(task: string, times: number): boolean;
}

const IDLE: Working = { call: () => Promise.reject(new Error('There is no world.')), fails: () => false };

/** A builder without its types: names are known only when it runs. */
interface LooseBuilder {
  addNode(name: string, run: unknown, options?: object): unknown;
  addEdge(from: string, to: string): unknown;
  addConditionalEdges(from: string, route: () => unknown): unknown;
  compile(): { invoke(input: unknown): Promise<unknown> };
}

/** The graph a description stands for; each node tells what it is given. */
export function buildGraph({ nodes, starts }: RandomGraph, given: Given, world = IDLE): unknown {
  const builder = new StateGraph(State) as unknown as LooseBuilder;
  const nameAt = (at: number): string => nameOf(at, nodes);
  const everyNode = [...nodes.map((_, at) => nameAt(at)), END];
  for (const [at, { ownInput, inside, ...node }] of nodes.entries()) {
    const name = nameAt(at);
    const inner = inside === null ? null : chainOf(name, inside.chain, world);
    const run = async (state: unknown, config: LangGraphRunnableConfig): Promise<unknown> => {
      given(name, state);
      await worked(node.work, { name, state, config, world });
      if (inner !== null) await inner.invoke({ last: 'called' });
      return returned(node, { at, nodes });
    };
    const options = { ends: everyNode, retryPolicy: RETRIED, ...(ownInput && { input: OwnInput }) };
    builder.addNode(name, inside?.isNode === true ? inner : run, options);
  }
  for (const start of new Set(starts.map((start) => start % nodes.length)))
    builder.addEdge(START, nameAt(start));
  for (const [at, { edges, conditional }] of nodes.entries()) {
    for (const next of new Set(edges.map((step) => nameAt(at + step)))) builder.addEdge(nameAt(at), next);
    if (conditional === null) continue;
    builder.addConditionalEdges(nameAt(at), () => conditional.map((way) => wayOf(way, { at, nodes })));
  }
  return builder;
}

/** Nodes in a row, which leave what they came to. */
function chainOf(name: string, chain: readonly Work[], world: Working) {
  const builder = new StateGraph(State) as unknown as LooseBuilder;
  for (const [at, work] of chain.entries()) {
    const inner = `i${at}`;
    const run = async (state: unknown, config: LangGraphRunnableConfig): Promise<unknown> => ({
      log: [await worked(work, { name: `${name}.${inner}`, state, config, world })],
    });
    builder.addNode(inner, run, { retryPolicy: RETRIED });
    builder.addEdge(at === 0 ? START : `i${at - 1}`, inner);
  }
  return builder.compile();
}

interface Surroundings {
  readonly name: string;
  readonly state: unknown;
  readonly config: LangGraphRunnableConfig;
  readonly world: Working;
}

/** Does the work of a node; each call and each question tells all that came before. */
async function worked({ acts, fails }: Work, { name, state, config, world }: Surroundings): Promise<string> {
  const task = String(config.configurable?.['__pregel_task_id']);
  let known = `${name} ${sha256Hex(JSON.stringify(described(state))).slice(0, 8)}`;
  for (const [at, act] of acts.entries()) {
    const said: unknown =
      act === 'call'
        ? await world.call(`call ${at}`, { task, what: known })
        : interrupt<object, unknown>({ ask: known });
    known = `${name} ${at} ${JSON.stringify(said)}`;
  }
  if (world.fails(task, fails)) throw new Flaky(`${name} is down.`);
  return known;
}

/** The node that a way leads on from. */
interface From {
  readonly at: number;
  readonly nodes: readonly RandomNode[];
}

const nameOf = (at: number, nodes: readonly RandomNode[]): string => (at < nodes.length ? `n${at}` : END);

function returned({ outputs, isList }: Pick<RandomNode, 'outputs' | 'isList'>, from: From): unknown {
  const values = outputs.map((output) => outputOf(output, from));
  return isList ? values : values[0];
}

function outputOf(output: Output, from: From): unknown {
  if (output.kind === 'raw') return output.value;
  if (output.kind === 'throws') throw new RangeError(output.message);
  const update = Object.fromEntries(output.writes);
  if (output.kind === 'update') return update;
  const goto = output.goto.map((way) => wayOf(way, from));
  return new Command({ goto, update: output.pairs ? (output.writes as [string, unknown][]) : update });
}

/** Nothing can be sent to the end, and a graph of its own takes a state: of nothing it does not begin. */
function wayOf(way: To, { at, nodes }: From): string | Send {
  const target = nameOf(at + way.ahead, nodes);
  if (!('payload' in way) || target === END) return target;
  const isGraph = nodes[at + way.ahead]?.inside?.isNode === true;
  return new Send(target, isGraph ? { last: way.payload } : way.payload);
}

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Annotation,
  Command,
  END,
  type LangGraphRunnableConfig,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Act, Exit, GraphSpec, NodeSpec, Program } from '../../engine/frames/__tests__/randomProgram.ts';
import { type CompiledLangGraph, recurse, recurseAll } from '../../engine/frames/recurse.ts';

const latest = <T>(initial: T) => Annotation<T>({ reducer: (_, next) => next, default: () => initial });

const State = Annotation.Root({
  path: latest(''),
  seed: latest(0),
  levels: latest(0),
  budget: latest(0),
  /** Depends on the order of parallel writes. */
  latest: latest(''),
  log: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
  total: Annotation<number>({ reducer: (sum, more) => (sum + more) % 1_000_003, default: () => 0 }),
  visits: Annotation<Readonly<Record<string, number>>>({ reducer: addUp, default: () => ({}) }),
});
type Values = typeof State.State;
type Update = typeof State.Update;
export type ProgramGraph = CompiledLangGraph<Update, Values>;

/** What lies outside of the graphs: it outlives a killed or aborted run. */
export interface World {
  /** Asks a human, by interrupt or at once. */
  readonly ask: (name: string) => string;
  /** Places that have failed once. */
  readonly failed: Set<string>;
  /** What the case exercised. */
  readonly seen: Set<string>;
  /** Called as a node begins, each time. */
  readonly onVisit?: () => void;
}

/** The graphs of a program, compiled anew as after a restart; the first of them. */
export function buildProgram({ graphs }: Program, world: World): ProgramGraph {
  const built: ProgramGraph[] = [];
  for (const index of [...graphs.keys()].reverse())
    built[index] = buildGraph({ graphs, index, built, world });
  return built[0] as ProgramGraph;
}

export function inputOf({ seed, levels, budget }: Program): Update {
  return { path: 'root', seed, levels, budget };
}

interface Building {
  readonly graphs: readonly GraphSpec[];
  readonly index: number;
  readonly built: readonly ProgramGraph[];
  readonly world: World;
}

/** LangGraph's builder without its types for names known while compiling. */
interface Builder {
  addNode(name: string, node: unknown, options?: object): Builder;
  addEdge(from: string | readonly string[], to: string): Builder;
  addConditionalEdges(from: string, route: (state: Values) => unknown): Builder;
  compile(): ProgramGraph;
}

const RETRY = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false };

function buildGraph(building: Building): ProgramGraph {
  const spec = building.graphs[building.index] as GraphSpec;
  const { starts, nodes, joins } = spec;
  const nameOf = (at: number): string => (at < nodes.length ? `n${at}` : END);
  const builder = new StateGraph(State) as unknown as Builder;
  for (const [at, node] of nodes.entries()) {
    const inner = node.isGraph ? building.built[building.index + 1] : undefined;
    if (inner !== undefined) building.world.seen.add('graph as a node');
    if (node.defer) building.world.seen.add('defer');
    builder.addNode(`n${at}`, inner ?? bodyOf(node, at, building), {
      defer: node.defer,
      ...(node.fails && { retryPolicy: RETRY }),
    });
    addExit(builder, inner === undefined ? node.exit : withoutLoop(node.exit), {
      at,
      nameOf,
      isGraph: inner !== undefined,
      seen: building.world.seen,
    });
  }
  if (joins && nodes.length > 2) {
    building.world.seen.add('join');
    builder.addEdge(['n0', 'n1'], nameOf(nodes.length - 1));
  }
  builder.addConditionalEdges(START, () => starts.map((at) => nameOf(Math.min(at, nodes.length - 1))));
  return builder.compile();
}

/** A graph as a node counts no visits of its own. */
const withoutLoop = (exit: Exit): Exit => (exit.exit === 'loop' ? { exit: 'edges', to: [1] } : exit);

interface Leaving {
  readonly at: number;
  readonly nameOf: (at: number) => string;
  readonly isGraph: boolean;
  readonly seen: Set<string>;
}

function addExit(builder: Builder, exit: Exit, { at, nameOf, isGraph, seen }: Leaving): void {
  const name = nameOf(at);
  const see = <T>(what: T): T => {
    seen.add(exit.exit);
    return what;
  };
  switch (exit.exit) {
    case 'edges':
      for (const to of new Set(exit.to.map((offset) => nameOf(at + offset)))) builder.addEdge(name, to);
      return;
    case 'route':
      builder.addConditionalEdges(name, (state) =>
        see(pick(exit.to, state).map((offset) => nameOf(at + offset))),
      );
      return;
    case 'send':
      builder.addConditionalEdges(name, (state) => see(sends(nameOf(at + exit.to), exit.copies, state)));
      return;
    case 'loop':
      builder.addConditionalEdges(name, ({ visits }) =>
        (visits[name] ?? 0) < exit.rounds ? see(nameOf(Math.max(0, at - exit.back))) : nameOf(at + 1),
      );
      return;
    case 'command':
      if (isGraph) builder.addEdge(name, nameOf(at + 1)); // the graph in this place returns no command
  }
}

function bodyOf(node: NodeSpec, at: number, { graphs, index, built, world }: Building) {
  const { length, sites } = {
    length: graphs[index]?.nodes.length ?? 0,
    sites: sitesIn(graphs[index] as GraphSpec),
  };
  const nameOf = (target: number): string => (target < length ? `n${target}` : END);
  return async (state: Values, config: LangGraphRunnableConfig): Promise<Update | Command> => {
    world.onVisit?.();
    const told: string[] = [];
    for (const [step, act] of node.acts.entries()) {
      const place = `${state.path}/g${index}.n${at}.${step}`;
      told.push(await perform(act, { place, state, config, sites, built, world }));
    }
    if (node.fails && failsNow(`${state.path}/g${index}.n${at}`, world))
      throw new Error('The first attempt fails.');
    const digest = hash([state.path, state.total, told]);
    const update = {
      log: [`n${at} ${digest}`],
      latest: digest,
      total: Number.parseInt(digest, 16) % 1000,
      visits: { [`n${at}`]: 1 },
    };
    if (node.exit.exit !== 'command') return update;
    world.seen.add('command');
    return new Command({ update, goto: gotoOf(node.exit, state, (offset) => nameOf(at + offset)) });
  };
}

function gotoOf(
  { to, copies }: Extract<Exit, { exit: 'command' }>,
  state: Values,
  nameOf: (offset: number) => string,
): (string | Send)[] {
  const names = [...new Set(pick(to, state).map(nameOf))].filter((name) => name !== END);
  return copies === 1 ? names : names.flatMap((name) => sends(name, copies, state));
}

interface Acting {
  readonly place: string;
  readonly state: Values;
  readonly config: LangGraphRunnableConfig;
  /** Children a run of this graph may ask for: they share its budget. */
  readonly sites: number;
  readonly built: readonly ProgramGraph[];
  readonly world: World;
}

async function perform(act: Act, acting: Acting): Promise<string> {
  const { place, config, world } = acting;
  switch (act.act) {
    case 'ask':
      world.seen.add('ask');
      return world.ask(place);
    case 'wait':
      await nextTurn();
      return '';
    case 'recurse': {
      const [call] = callsOf([act.graph], acting);
      return call === undefined ? '' : hash(await recurse(call.graph, call.input, config));
    }
    case 'together':
      return hash(
        await Promise.all(callsOf(act.graphs, acting).map(({ graph, input }) => recurse(graph, input))),
      );
    case 'recurseAll':
      return hash(await recurseAll(callsOf(act.graphs, acting), config));
  }
}

function callsOf(graphs: readonly number[], { place, state, sites, built, world }: Acting) {
  const levels = state.levels - 1;
  const budget = Math.floor((state.budget - 1) / sites);
  if (levels < 0 || budget < 1) return [];
  world.seen.add(`level ${place.split('/').length - 1}`);
  world.seen.add(graphs.length > 1 ? 'several children' : 'one child');
  return graphs.map((graph, nth) => {
    const path = `${place}.${nth}`;
    const seed = Number.parseInt(hash([path, state.seed, state.total]), 16);
    return { graph: built[graph % built.length] as ProgramGraph, input: { path, seed, levels, budget } };
  });
}

function sitesIn({ nodes }: GraphSpec): number {
  const asked = nodes.flatMap(({ acts }) =>
    acts.map((act) => ('graphs' in act ? act.graphs.length : act.act === 'recurse' ? 1 : 0)),
  );
  return Math.max(
    1,
    asked.reduce<number>((sum, count) => sum + count, 0),
  );
}

function failsNow(place: string, { failed, seen }: World): boolean {
  if (failed.has(place)) return false;
  failed.add(place);
  seen.add('retry');
  return true;
}

const sends = (to: string, copies: number, state: Values): Send[] =>
  to === END
    ? []
    : Array.from({ length: copies }, (_, copy) => new Send(to, { ...state, path: `${state.path}#${copy}` }));

/** One of the targets, or all of them: what the state says. */
function pick<T>(targets: readonly T[], { seed, total, log }: Values): readonly T[] {
  const choice = (seed + total + log.length) % (targets.length + 1);
  const target = targets[choice];
  return target === undefined ? targets : [target];
}

function addUp(
  before: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  const sums = Object.entries(more).map(([name, count]) => [name, (before[name] ?? 0) + count]);
  return { ...before, ...Object.fromEntries(sums) };
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
}

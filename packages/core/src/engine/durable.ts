import { randomUUID } from 'node:crypto';
import type { BaseCache, BaseStore } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH } from '../config/defaults.ts';
import { type PriceTable, pricesOf } from '../config/prices.ts';
import { createDatabase } from '../db/createDatabase.ts';
import { EventBus } from '../events/EventBus.ts';
import { registerSecrets, type SecretsOptions } from '../masking/registerSecrets.ts';
import type { FencedLease } from '../state/Fence.ts';
import { type CompiledOf, compileDurable } from './compile/compileDurable.ts';
import {
  type BuilderOf,
  type GraphSource,
  type NameOf,
  type StateOf,
  takeGraph,
  type UpdateOf,
} from './compile/graphSource.ts';
import { DurableApp } from './DurableApp.ts';
import type { LeaveRun } from './drive/DriverDeps.ts';
import type { EndOfRun } from './drive/outcome.ts';
import { EngineStore } from './EngineStore.ts';
import type { EntropyOptions } from './entropy/scoreEntropy.ts';
import type { Turn } from './entropy/Turn.ts';
import type { GoalReader } from './Goal.ts';
import type { GraphProfile } from './GraphProfile.ts';
import type { AnswersAt, GateOf, GatesBefore } from './gates/DeclaredGate.ts';
import { type GivenGates, parsedGates } from './gates/parsedGate.ts';
import { type Budget, parseBudget } from './guards/Budget.ts';
import { noteBegun } from './node/activeVisit.ts';
import { FaultBox } from './node/FaultBox.ts';
import { type OwnGraphGuards, ownGraphProfile } from './ownGraphProfile.ts';
import { DrivenSaver } from './saver/DrivenSaver.ts';
import type { SaverLimits } from './saver/limits.ts';
import type { StoredCheckpoint } from './saver/SqliteSaver.ts';
import { STEP_CODEC } from './saver/stepCodec.ts';
import { type InnerBreakpoints, innerBreakpoints } from './stops/innerBreakpoints.ts';
import { takeStore } from './store/takeStore.ts';
import { RunStreams } from './stream/RunStreams.ts';
import { keptEvents, type StreamsOptions } from './stream/StreamsOptions.ts';

export interface DurableOptions<
  State,
  Name extends string = string,
  Gates = { readonly [Node in Name]?: GateOf<State> },
> {
  /** Path of the state file; created when missing. Give this or `db`. */
  readonly file?: string;
  /** An open state file made by `createDatabase`. It stays open when the app is closed. */
  readonly db?: Database;
  /** What a human must approve before a node runs: a function of the state, or a gate that takes more than a yes or no. */
  readonly gates?: Gates;
  readonly guards?: {
    /** Node transitions without `progress()` from which a human is asked. @defaultValue 25 */
    readonly maxDepth?: number;
    /** A node's `entropyScore` in [0, 1] from which a human is asked. @defaultValue 0.75 */
    readonly entropyThreshold?: number;
    /** What the agents did and saw, oldest first, from the state: scored after every node. @defaultValue nothing */
    readonly entropy?: (state: State) => readonly Turn[];
    /** Tools, or turns, that wait for something outside: left out of the score. */
    readonly polling?: EntropyOptions['polling'];
  };
  /**
   * What nodes keep beyond the run, as `compile` takes it; `'file'` is a `SqliteStore` in the state file.
   * @defaultValue what the graph was compiled with, else none
   */
  readonly store?: BaseStore | 'file';
  /** Where nodes with a `cachePolicy` find their results, as `compile` takes it. @defaultValue as of `store` */
  readonly cache?: BaseCache;
  /** How large the values of the state may be. */
  readonly limits?: Partial<SaverLimits>;
  /** What a run may use up before a human is asked; recorded with each run when it is started. */
  readonly budget?: Budget;
  /** What tokens cost, or a JSON file that says so; see `loadPrices`. @defaultValue some list prices */
  readonly prices?: PriceTable | string;
  /** How much of the streams of runs is kept in the file; `false` for none. @defaultValue 10,000 events of each run */
  readonly streams?: StreamsOptions | false;
  /** Change it when waiting runs cannot go on with the new code. @defaultValue "1" */
  readonly version?: string;
  /** What is known to be secret, masked wherever it appears. @defaultValue the environment's secrets */
  readonly secrets?: SecretsOptions;
  readonly events?: EventBus;
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly newId?: () => string;
}

/** What the engine itself passes for graphs it knows. */
export interface KnownGraph<State> {
  readonly profile: GraphProfile<State>;
  readonly endOf: (values: unknown) => EndOfRun;
  readonly goals?: GoalReader;
  readonly leave?: LeaveRun;
  /** Over the same file as the app. @defaultValue one that is made */
  readonly store?: EngineStore;
}

interface SaverParts {
  readonly breakpoints: InnerBreakpoints;
  readonly streams: RunStreams;
  readonly limits: Partial<SaverLimits> | undefined;
}

/**
 * Makes any LangGraph graph durable: every node, gate and recorded step is in one SQLite file, and a run goes on
 * from there in any process. The builder is not changed; of a compiled graph, its builder is taken, with the store,
 * the cache, the name and the breakpoints it was compiled with; of an agent, its `graph`.
 *
 * @throws RangeError if a guard's or a value's limit is no number in its range.
 * @throws TypeError if a gate names a node the graph does not have, if neither or both of `file` and `db` are given, or
 *   if the graph cannot be taken: it has a channel of the engine's name, or no builder.
 *
 * @example
 * ```ts
 * const app = durable(builder, { file: 'state.sqlite', gates: { publish: (state) => state.draft } });
 * const { gates } = await app.run('post-42', { brief: 'Say hello.' });
 * await app.decide(gates[0], { approved: true, by: { kind: 'human', id: 'ada' } });
 * await app.run('post-42');
 * ```
 */
export function durable<Source extends GraphSource, Answers extends AnswersAt<NameOf<Source>>>(
  source: Source,
  options: DurableOptions<
    StateOf<Source>,
    NameOf<Source>,
    GatesBefore<StateOf<Source>, NameOf<Source>, Answers>
  >,
  { profile, store: opened, ...known }: KnownGraph<StateOf<Source>> = ownGraph(options.guards),
): DurableApp<CompiledOf<BuilderOf<Source>>, StateOf<Source>, UpdateOf<Source>> {
  const { events = new EventBus(), now = Date.now, newId = randomUUID, version = '1', guards = {} } = options;
  const seams = { events, now, newId };
  const { maxDepth = MAX_RECURSION_DEPTH, entropyThreshold = HITL_ENTROPY_THRESHOLD } = guards;
  const { builder, carried } = takeGraph<StateOf<Source>, UpdateOf<Source>, NameOf<Source>>(
    source,
    options.gates,
  );
  const gates = parsedGates(options.gates as GivenGates<StateOf<Source>> | undefined);
  const budget = parseBudget(options.budget ?? {});
  const keep = keptEvents(options.streams);
  registerSecrets(options.secrets);
  const { db, close } = openFile(options);
  const prices = pricesOf(options.prices);
  const store =
    opened ??
    new EngineStore(db, {
      ...{ ...seams, entropyThreshold, prices },
      rules: profile.rules,
      codec: STEP_CODEC,
    });
  const streams = new RunStreams(db, keep);
  const breakpoints = innerBreakpoints(builder);
  const saver = driversSaver(db, store, { breakpoints, streams, limits: options.limits });
  const own = { ...seams, runs: store.runs, store, profile };
  const deps = { ...own, maxDepth, faults: new FaultBox(), breakpoints, streams };
  const kept = takeStore(options, carried, { db, now, events, limits: options.limits, maxDepth });
  const compiled = compileDurable(builder, { checkpointer: saver, deps, gates, version, carried: kept });
  return new DurableApp({
    ...{ ...compiled, ...seams, maxDepth },
    // The copy has the types of the builder that it is of.
    graph: compiled.graph as unknown as CompiledOf<BuilderOf<Source>>,
    budget,
    gates,
    store,
    memory: kept.store,
    saver,
    streams,
    faults: deps.faults,
    ...known,
    close,
  });
}

function driversSaver(
  db: Database,
  store: EngineStore,
  { breakpoints, streams, limits }: SaverParts,
): DrivenSaver {
  return new DrivenSaver(db, store, {
    breakpoints,
    onLook: noteBegun,
    streamOf: (lease) => streams.of(lease),
    ...(limits && { limits }),
    onCheckpoint: noteCheckpoints(store),
  });
}

function ownGraph<State extends object>(guards?: OwnGraphGuards<State>): KnownGraph<State> {
  return { profile: ownGraphProfile(guards), endOf: () => ({ status: 'completed', reason: null }) };
}

function openFile({ file, db }: { readonly file?: string; readonly db?: Database }): {
  readonly db: Database;
  readonly close: () => void;
} {
  if ((file === undefined) === (db === undefined)) throw new TypeError('Expected either `file` or `db`.');
  if (db !== undefined) return { db, close: () => {} };
  const opened = createDatabase({ dbPath: file as string });
  return { db: opened, close: () => opened.close() };
}

/**
 * What a checkpoint says of its run, in its own transaction. A committed super-step is progress: only a driver that dies before
 * one counts towards giving the run up. A root checkpoint that holds an input is where its turn is taken up, so that no driver
 * gives it twice and none leaves it out; graphs inside nodes and frames have inputs of their own.
 */
function noteCheckpoints({ threads, inputs }: EngineStore) {
  return (lease: FencedLease, { threadId, checkpointNs, source }: StoredCheckpoint): void => {
    threads.resetRecoveries(lease);
    if (source === 'input' && checkpointNs === '' && threadId === lease.threadId) inputs.markTaken(threadId);
  };
}

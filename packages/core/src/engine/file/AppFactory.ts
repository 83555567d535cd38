import { randomUUID } from 'node:crypto';
import type { StateGraph } from '@langchain/langgraph';
import {
  type BaseCache,
  type BaseCheckpointSaver,
  type BaseStore,
  MemorySaver,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH } from '../../config/defaults.ts';
import { assertDurability, type Durability } from '../../config/durability.ts';
import { type Limits, validLimits } from '../../config/limits.ts';
import { type PriceTable, pricesOf } from '../../config/prices.ts';
import { EventBus } from '../../events/events.ts';
import { registerSecrets, type SecretsOptions } from '../../masking/SecretRegistry.ts';
import type { CommitBarrier } from '../../state/commits/CommitBarrier.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import { NullRunStore } from '../../state/NullRunStore.ts';
import type { HostIdentity } from '../../state/threads/hostIdentity.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import { type InnerBreakpoints, innerBreakpoints } from '../breakpoints/Breakpoint.ts';
import { assertGraphChanges } from '../change/graphChanges.ts';
import { compileDurable, compileEntrypoint } from '../compile/compileDurable.ts';
import type { Engine, ReleaseRun } from '../drive/Engine.ts';
import type { AgentAction } from '../entropy/EntropyPart.ts';
import type { EntropyOptions } from '../entropy/scoreEntropy.ts';
import { EngineFaults } from '../execution/EngineFaults.ts';
import type { GateOf } from '../gates/DeclaredGate.ts';
import { EngineStore } from '../gates/EngineStore.ts';
import { type DeclaredGates, type GivenGates, parsedGates } from '../gates/parsedGates.ts';
import type { EngineGraph } from '../graph/EngineGraph.ts';
import type { DeclaredChanges, GraphShape } from '../graph/graphShape.ts';
import {
  type CompileSettings,
  type GraphOf,
  type GraphSource,
  madeByAuthor,
  type OutputOf,
  type ReadSource,
  readGraphSource,
  type StateOf,
  type UpdateOf,
} from '../graph/graphSource.ts';
import {
  type EndOfRun,
  type GoalReader,
  type GraphProfile,
  NO_GOALS,
  type NodeEngine,
} from '../graph/NodeEngine.ts';
import { type Budget, parseBudget } from '../guards/Budget.ts';
import { assertUnitInterval } from '../guards/lattice.ts';
import { noteBegun } from '../node/nodeContext.ts';
import { placeHere } from '../node/stepPlace.ts';
import { DrivenSaver } from '../saver/DrivenSaver.ts';
import { useLangChainOf } from '../saver/langChainCopies.ts';
import type { StoredCheckpoint } from '../saver/SqliteSaver.ts';
import { STEP_CODEC } from '../saver/StrictSerde.ts';
import { resolveStore } from '../store/resolveStore.ts';
import { keptEvents, RunStreams, type StreamsOptions } from '../stream/RunStreams.ts';
import { type TelemetryOptions, telemetryOptions } from '../telemetry/Telemetry.ts';
import { assertWebhooks, type Webhooks } from '../webhooks/Webhook.ts';
import { FileApp } from './FileApp.ts';

/** Options of `durable`, except the place of the runs. */
export interface AppOptions<
  State,
  Name extends string = string,
  Gates = { readonly [Node in Name]?: GateOf<State> },
> {
  /** Gates by node name: a function that returns the content to approve, or an object with more options. */
  readonly gates?: Gates;
  readonly guards?: {
    /** Node transitions without `progress()` before the run asks. @defaultValue 25 */
    readonly maxDepth?: number;
    /** Entropy score in [0, 1] at which the run asks. @defaultValue 0.75 */
    readonly entropyThreshold?: number;
    /** Returns the agent's actions from the state, oldest first; scored after every node. @defaultValue no actions */
    readonly entropy?: (state: State) => readonly AgentAction[];
    /** Tools, or actions, that wait for something outside; left out of the score. */
    readonly polling?: EntropyOptions['polling'];
  };
  /**
   * Long-term memory, as for `compile`; `'file'` uses a `SqliteStore` in the state file.
   * @defaultValue the compiled store, if any
   */
  readonly store?: BaseStore | 'file';
  /** Results of nodes with a `cachePolicy`, as for `compile`. @defaultValue the compiled cache, if any */
  readonly cache?: BaseCache;
  /** Sizes of stored values: writes, channels, inputs, answers. @defaultValue see `Limits` */
  readonly limits?: Partial<Limits>;
  /** Use of a run before it asks; stored with each new run. */
  readonly budget?: Budget;
  /** Model prices, or the path of a JSON file with them. @defaultValue list prices */
  readonly prices?: PriceTable | string;
  /** Stream events to store per run; `false` stores none. @defaultValue 10,000 events */
  readonly streams?: StreamsOptions | false;
  /** Nodes, channels and gates of earlier versions that were renamed or removed; for every run that was started with one. */
  readonly graphChanges?: DeclaredChanges;
  /**
   * How far a run may be ahead of the disk, in LangGraph's words. With `async` it is at most 20 ms of work ahead. With `sync` each
   * super-step is on disk before the next. Recorded calls, questions and results are on disk in both. @defaultValue "async"
   */
  readonly durability?: Durability;
  /** Version of your graph. Change it if waiting runs cannot continue with the new code. @defaultValue "1" */
  readonly version?: string;
  /** Secrets to mask in output. @defaultValue the environment's secrets */
  readonly secrets?: SecretsOptions;
  readonly events?: EventBus;
  /** Receivers of events about gates and ends of runs, by name. `work` and workers send them. @defaultValue none */
  readonly webhooks?: Webhooks;
  /**
   * Exports the spans of its runs with OpenTelemetry, as the `OTEL_…` variables say. `work` and workers send them.
   * @defaultValue false
   */
  readonly telemetry?: boolean | TelemetryOptions;
  /** Clock, in milliseconds since the Unix epoch. @defaultValue the machine's; in a cluster PostgreSQL's */
  readonly now?: () => number;
  readonly newId?: () => string;
}

/** What the engine itself passes for graphs it knows. */
export interface KnownGraph<State> {
  readonly profile: GraphProfile<State>;
  readonly endOf: (values: unknown) => EndOfRun;
  readonly goals?: GoalReader;
  readonly leave?: ReleaseRun;
  /**
   * What its runs are recorded as, among those of other graphs, of the name it was compiled with.
   * @defaultValue a run is known by the shape of its graph alone
   */
  readonly recordedAs?: (compiled: string | undefined) => string | undefined;
  /** Ends of its runs get a position among those of every run, for telemetry too. @defaultValue for webhooks alone */
  readonly numbersEnds?: boolean;
}

type PlanOptions<State> = AppOptions<State, string, object>;

/** What an app is opened over. */
export interface AppFile {
  readonly db: Database;
  /** @defaultValue what is committed has arrived */
  readonly outlet?: CommitBarrier;
  /** @defaultValue the bus of the options */
  readonly events?: EventBus;
  /** @defaultValue this machine */
  readonly host?: HostIdentity;
  /** Over `db`. @defaultValue one that is made */
  readonly store?: EngineStore;
  /** Of a copy: whether a live process executes its run. @defaultValue the leases in the file say so */
  readonly isDriven?: boolean;
}

/** A graph and its options, checked once: an app can be opened over any file. */
export class AppFactory<Graph, State, Update, Output = State> {
  /** See {@link KnownGraph.recordedAs}. */
  readonly recordedAs: string | undefined;
  /** The store of its nodes, where that is not in the file. */
  readonly memory: BaseStore | undefined;
  readonly events: EventBus;
  readonly newId: () => string;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly webhooks: Webhooks;
  readonly telemetry: TelemetryOptions | null;
  readonly #options: PlanOptions<State>;
  readonly #known: KnownGraph<State & object>;
  readonly #source: ReadSource<State & object, Update, string>;
  readonly #carried: CompileSettings;
  readonly #gates: DeclaredGates<State & object>;
  readonly #budget: Budget;
  readonly #prices: PriceTable;
  /** Events of a stream that are kept; `null` for none. */
  readonly #keep: number | null;
  readonly #breakpoints: InnerBreakpoints;
  readonly #limits: Limits;

  /** @throws RangeError, TypeError as `durable`; so do `open` and `outline`, for what the compiler checks. */
  constructor(source: GraphSource, options: PlanOptions<State>, known: KnownGraph<State & object>) {
    const { events = new EventBus(), now = Date.now, newId = randomUUID, store } = options;
    assertThreshold(options.guards);
    assertDurability('durable()', options.durability);
    assertWebhooks(options.webhooks ?? {});
    this.#limits = validLimits(options.limits);
    const read = readGraphSource<State & object, Update, string>(source, options.gates);
    const { carried } = read;
    useLangChainOf(madeByAuthor(read));
    if ('entrypoint' in read) assertForEntrypoint(options);
    this.#gates = parsedGates(options.gates as GivenGates<State & object> | undefined);
    this.#budget = parseBudget(options.budget ?? {});
    this.#keep = keptEvents(options.streams);
    registerSecrets(options.secrets);
    this.#prices = pricesOf(options.prices);
    this.#breakpoints = 'builder' in read ? innerBreakpoints(read.builder) : new Map();
    this.#source = read;
    this.#carried = carried;
    this.#options = options;
    this.#known = known;
    this.recordedAs = known.recordedAs?.(carried.name);
    this.memory = store === 'file' ? undefined : (store ?? carried.store);
    this.events = events;
    this.now = now;
    this.newId = newId;
    this.webhooks = options.webhooks ?? {};
    this.telemetry = telemetryOptions(options.telemetry);
  }

  /** The graph over no file, for what is told of the graph itself. */
  outline(): { readonly graph: Graph; readonly shape: GraphShape } {
    const { events } = this;
    const runs = { runs: new NullRunStore(events), store: null };
    const engine = { ...this.#seams(events), ...runs, faults: new EngineFaults() };
    return this.#compile(new MemorySaver(), engine, this.#carried);
  }

  open({
    db,
    events = this.events,
    store: given,
    isDriven,
    ...about
  }: AppFile): FileApp<Graph, State, Update, Output> {
    const limits = this.#limits;
    const { profile: _, recordedAs: _name, numbersEnds: _ends, ...known } = this.#known;
    const seams = this.#seams(events);
    const store = given ?? this.#storeOver(db, events, about);
    const streams = new RunStreams(db, this.#keep, limits, placeHere);
    const saver = driversSaver(db, store, { breakpoints: this.#breakpoints, streams, limits });
    const faults = new EngineFaults();
    const kept = resolveStore(this.#options, this.#carried, { ...seams, db, limits });
    const { graph, ...compiled } = this.#compile(
      saver,
      { ...seams, runs: store.runs, store, faults, streams },
      kept,
    );
    const engine: Engine = {
      ...compiled,
      // Everything LangGraph compiles has these methods; its type does not say so.
      graph: graph as unknown as EngineGraph,
      ...{ ...seams, goals: NO_GOALS, ...known, store, saver, streams, faults },
      memory: kept.store,
      budget: this.#budget,
      durability: this.#options.durability ?? 'async',
      gates: this.#gates,
      recordedAs: this.recordedAs,
      graphChanges: this.#options.graphChanges,
    };
    return new FileApp(engine, graph, isDriven);
  }

  #seams(events: EventBus) {
    const { now, newId } = this;
    const { maxDepth = MAX_RECURSION_DEPTH } = this.#options.guards ?? {};
    return { events, now, newId, maxDepth };
  }

  #storeOver(db: Database, events: EventBus, about: Pick<AppFile, 'outlet' | 'host'>): EngineStore {
    const { now, newId } = this;
    const { entropyThreshold = HITL_ENTROPY_THRESHOLD } = this.#options.guards ?? {};
    return new EngineStore(db, {
      ...{ events, now, newId, entropyThreshold, prices: this.#prices, limits: this.#limits },
      rules: this.#known.profile.rules,
      codec: STEP_CODEC,
      numbersEnds:
        Object.keys(this.webhooks).length > 0 ||
        (this.#known.numbersEnds === true && this.telemetry !== null),
      ...about,
    });
  }

  #compile(
    checkpointer: BaseCheckpointSaver,
    engine: Omit<NodeEngine<State & object>, 'profile' | 'breakpoints'>,
    carried: CompileSettings,
  ) {
    const { profile } = this.#known;
    const { version = '1' } = this.#options;
    const settings = {
      checkpointer,
      engine: { ...engine, profile, breakpoints: this.#breakpoints },
      gates: this.#gates,
      version,
      carried,
    };
    const { graph, ...compiled } =
      'entrypoint' in this.#source
        ? compileEntrypoint(this.#source.entrypoint, settings)
        : compileDurable<State & object, Update, string, StateGraph<unknown, State & object, Update, string>>(
            this.#source.builder,
            settings,
          );
    const { graphChanges } = this.#options;
    if (graphChanges !== undefined) assertGraphChanges(graphChanges, compiled.shape);
    // The copy has the types of the builder that it is of.
    return { ...compiled, graph: graph as unknown as Graph };
  }
}

/** Before there is a file: an app over runs opens one for each. @throws RangeError */
function assertThreshold({
  entropyThreshold = HITL_ENTROPY_THRESHOLD,
}: AppOptions<never>['guards'] = {}): void {
  assertUnitInterval('entropyThreshold', entropyThreshold);
}

/** An entrypoint has one node and a value as its state. @throws TypeError */
function assertForEntrypoint({ gates, guards }: PlanOptions<never>): void {
  if (Object.keys(gates ?? {}).length > 0)
    throw new TypeError('`gates` are for nodes of a StateGraph: ask with interrupt() in the entrypoint.');
  if (guards?.entropy !== undefined)
    throw new TypeError('`guards.entropy` is for a StateGraph: an entrypoint has no state between nodes.');
}

/** Checks a graph and its options; nothing is opened or written. @throws RangeError, TypeError as `durable`. */
export function planApp<Source extends GraphSource>(
  source: Source,
  options: PlanOptions<StateOf<Source>>,
  known: KnownGraph<StateOf<Source>>,
): AppFactory<GraphOf<Source>, StateOf<Source>, UpdateOf<Source>, OutputOf<Source>> {
  return new AppFactory(source, options, known);
}

interface SaverParts {
  readonly breakpoints: InnerBreakpoints;
  readonly streams: RunStreams;
  readonly limits: Limits;
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
    limits,
    onCheckpoint: noteCheckpoints(store),
  });
}

/** Each until the checkpoint of its START, which is committed with it or soon after. */
const REMEMBERED_INPUTS = 4096;

/**
 * What a checkpoint says of its run, in its own transaction. A committed super-step of nodes is progress: only a driver that dies
 * before one counts towards giving the run up. That an input was taken is none, in its checkpoint and in that of START. A root
 * checkpoint that holds an input is where its turn is taken up, so that no driver gives it twice and none leaves it out; graphs
 * inside nodes and frames have inputs of their own. A graph inside a node that has a thread of its own is bound to the run.
 */
function noteCheckpoints({ threads, inputs, innerThreads }: EngineStore) {
  const withInput = new RecentMap<string, true>(REMEMBERED_INPUTS);
  return (lease: FencedLease, stored: StoredCheckpoint): void => {
    const { threadId, checkpointNs, checkpointId, parentId, source } = stored;
    const { threadId: runId } = lease;
    if (threadId !== runId && !threadId.startsWith(`${runId}/`))
      innerThreads.note({ runId, threadId, checkpointNs });
    if (source === 'input') {
      withInput.set(checkpointId, true);
      if (checkpointNs === '' && threadId === lease.threadId) inputs.markTaken(threadId);
    } else if (parentId === null || withInput.get(parentId) === undefined) threads.resetRecoveries(lease);
  };
}

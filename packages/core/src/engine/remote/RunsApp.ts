import type { BaseStore } from '@langchain/langgraph-checkpoint';
import { EventBus } from '../../events/EventBus.ts';
import type { PruneResult } from '../../state/checkpoints/CheckpointPruner.ts';
import type { EventRecord } from '../../state/events/EventStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { extractRun } from '../../state/moving/extractRun.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { AppFactory, AppInstance } from '../AppFactory.ts';
import { internalsOf } from '../appInternals.ts';
import type { AcceptedGraph, GraphAcceptance } from '../change/acceptGraph.ts';
import type { StateUpdate } from '../change/updateRun.ts';
import { nullIfBusy } from '../drive/lease.ts';
import { isOver } from '../drive/outcome.ts';
import { isIdAlone } from '../drive/runInput.ts';
import { messageId, type SignalOptions, type SignalReceipt } from '../drive/signalRun.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type Gate, type GateAnswer, readOnce } from '../gates/Gate.ts';
import { HitlSessionNotFoundError, type Principal } from '../gates/HumanInTheLoopManager.ts';
import type { RunSnapshot } from '../graph/EngineGraph.ts';
import { graphFingerprint, graphName, isInQueue } from '../graph/graphShape.ts';
import type { RunOptions, RunStartOptions } from '../RunOptions.ts';
import type { RunDetails, RunResult } from '../RunResult.ts';
import type { DeleteResult } from '../runs/deleteRuns.ts';
import { type ForkOptions, type ForkResult, threadExists } from '../runs/forkRun.ts';
import type { RunFilter, RunPage } from '../runs/listRuns.ts';
import type { GatePage } from '../runs/openGates.ts';
import type { PageRequest } from '../runs/pages.ts';
import type { LeasedRun, QueueOptions, RunDriver, RunQueue, RunRelease, Runs } from '../runs/Runs.ts';
import type { HistoryOptions, SnapshotOptions } from '../runs/snapshots.ts';
import type { Retention } from '../saver/ThreadPruner.ts';
import { NO_STORE } from '../store/resolveStore.ts';
import type { StreamEvent, StreamMode } from '../stream/StreamEvent.ts';
import type { StreamOptions } from '../stream/streamRun.ts';
import { registerOpener } from '../waits/children.ts';
import { signalFromDecision } from './decisionSignal.ts';
import { type FollowOptions, followRun } from './followRun.ts';
import { followRunInfo, type Waits } from './followRunInfo.ts';
import { LeasedApp } from './LeasedApp.ts';
import { newRunFile } from './newRunFile.ts';
import { endedOnly, RunAccess } from './RunAccess.ts';
import { readDetails } from './readDetails.ts';
import { releaseOf, runIndexOf } from './runIndex.ts';
import { streamingDrive, streamThere, toldBy } from './streamHere.ts';

export interface RunsAppOptions {
  readonly runs: Runs;
  readonly store?: BaseStore | 'file' | undefined;
}

/** Before a run that somebody else has is tried again where nothing new is told of it, ms. */
const BUSY_MS = 1000;

/**
 * A graph whose runs have a file each, for example in a cluster. It starts runs, records decisions and reads statuses;
 * workers execute the runs, and so does `run` in this process. Its methods behave as those of `DurableApp` and throw
 * the same errors. Every method rejects with `STATE_IO` if the runs cannot be reached.
 */
export class RunsApp<Graph, State, Update, Output = State> implements RunDriver {
  /** The compiled LangGraph graph, for drawing. It has no runs: read them with `getState`. */
  readonly graph: Graph;
  readonly queue: RunQueue;
  /** SHA-256 (hex) of node and channel names, gates and the author's version. */
  readonly fingerprint: string;
  /** Receives events of runs that this process executes, after they have arrived in storage. */
  readonly events: EventBus;
  /** The store that nodes have as `config.store`. Without a store, its methods throw a `TypeError`. */
  readonly memory: BaseStore;
  readonly runs: Runs;
  readonly #plan: AppFactory<Graph, State, Update>;
  readonly #access: RunAccess<Graph, State, Update>;

  /** @throws TypeError as `durable`. */
  constructor(plan: AppFactory<Graph, State, Update>, { runs, store }: RunsAppOptions) {
    if (store === 'file') throw new TypeError(FILE_OF_ITS_OWN);
    const { graph, shape } = plan.outline();
    this.graph = graph;
    this.fingerprint = graphFingerprint(shape);
    this.queue = { graph: graphName(plan.recordedAs), fingerprint: this.fingerprint };
    this.events = plan.events;
    this.memory = plan.memory ?? NO_STORE;
    this.runs = runs;
    this.#plan = plan;
    this.#access = new RunAccess(plan, runs, this.queue.graph);
    const opened = new WeakMap<EngineStore, object>();
    registerOpener(this, (parent) => {
      const app = opened.get(parent) ?? plan.open({ db: parent.db, outlet: parent.outlet }).app;
      opened.set(parent, app);
      return app;
    });
  }

  /**
   * Records a run for a worker to execute. For an existing id, records only a new `turn`. With the id alone, resumes a
   * run that was paused, failed or abandoned.
   *
   * @throws DevsError as `DurableApp.start`; `THREAD_BUSY` for a new turn while a process has the run's lease.
   *
   * @example
   * ```ts
   * await app.start('mail-7', { mail }, { tenant: 'acme', by: { kind: 'human', id: 'ada' } });
   * const { status, values } = await app.result('mail-7', { wait: true });
   * ```
   */
  async start(
    id: string,
    input?: Update,
    { tenant, priority, ...given }: RunStartOptions & QueueOptions = {},
  ): Promise<void> {
    if (isIdAlone(input, given)) return this.#goOn(id);
    const place = { ...(tenant !== undefined && { tenant }), ...(priority !== undefined && { priority }) };
    if (input !== undefined && (await this.#create(id, input, given, place))) return;
    const isTurn = await this.#access.look(id, async ({ app }) => {
      if (given.turn !== undefined && internalsOf(app).store.inputs.find(id, given.turn) === null)
        return true;
      await app.start(id, input, given);
      return false;
    });
    if (isTurn) await this.#change(id, ({ app }) => app.start(id, input, given));
  }

  async #create(id: string, input: Update, given: RunStartOptions, place: QueueOptions): Promise<boolean> {
    const db = newRunFile();
    try {
      const { app } = this.#plan.open({ db, events: new EventBus() });
      const isStarted = app.start(id, input, given).then(() => true);
      // What is wrong with a new run need not be with one that is known: that is looked at.
      if (!(await isStarted.catch((error) => this.#unlessKnown(id, error)))) return false;
      const index = this.#standing(id, internalsOf(app).store);
      return await this.runs.create({ ...place, id, queue: this.queue, index, file: db.serialize() });
    } finally {
      db.close();
    }
  }

  async #unlessKnown(id: string, error: unknown): Promise<false> {
    await this.#access.lookAtRecord(id, () => undefined).catch(() => Promise.reject(error));
    return false;
  }

  /** Whoever holds it drives it already. */
  async #goOn(id: string): Promise<void> {
    const status = await this.#access.lookAtRecord(id, ({ threads }) => threads.require(id).status);
    if (isOver(status)) return;
    await nullIfBusy(() => this.#change(id, async () => undefined, true));
  }

  /**
   * Returns the status of a run; with `wait`, after it has ended or `signal` is aborted.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   */
  async result(
    id: string,
    { wait = false, signal }: { readonly wait?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<RunDetails<Output>> {
    if (!wait)
      return this.#access.look(id, (...look) => readDetails<Output, Graph, State, Update>(id, ...look));
    return this.#follow(id, signal, ({ status }) => (hasEnded(status) ? 'done' : null));
  }

  async #follow(
    id: string,
    signal: AbortSignal | undefined,
    waits: Waits<Output>,
  ): Promise<RunDetails<Output>> {
    return followRunInfo(id, await this.#access.follow(id), { signal, waits });
  }

  /**
   * Records a run and executes it in this process. Rejects with `THREAD_BUSY` if a worker runs it. With `wait`, resumes
   * it whenever it can continue and is not in use.
   */
  async run(
    id: string,
    input?: Update,
    { wait = false, ...options }: RunOptions & RunStartOptions & QueueOptions = {},
  ): Promise<RunResult<Output>> {
    if (!isIdAlone(input, options)) await this.start(id, input, options);
    let result = await this.#driveHere(id, input, options);
    for (let isBusy = false; wait && result.status === 'waiting' && options.abort?.aborted !== true; ) {
      if (!(await this.#canGoOn(id, isBusy, options.signal))) return result;
      const driven = await nullIfBusy(() => this.#driveHere(id, input, options));
      isBusy = (driven ?? null) === null;
      result = driven ?? result;
    }
    return result;
  }

  #driveHere(id: string, input: Update | undefined, options: RunOptions): Promise<RunResult<Output>> {
    const { abort, ...others } = options;
    // A plan does not know the type of what comes out of its graph.
    const driveTold = (held: LeasedApp<Graph, State, Update>): Promise<RunResult<unknown>> =>
      held.drive((told) => held.app.run(id, input, { ...others, ...told }), abort);
    return this.#access.drive(id, driveTold, this.#letGo(id)) as Promise<RunResult<Output>>;
  }

  /**
   * Executes a run in this process and yields its events, as `DurableApp.stream` does. Each event is yielded after it
   * has arrived in storage, except the text of a model. Leaving the loop pauses the run at its next safe point. With
   * `null` it only reads.
   *
   * @throws DevsError as `run`; `STREAM_NOT_KEPT`.
   *
   * @example
   * ```ts
   * for await (const { mode, seq, data } of app.stream('mail-7', { mail })) if (mode === 'updates') show(seq, data);
   * ```
   */
  stream<const Mode extends StreamMode = 'updates'>(
    id: string,
    input?: Update | null,
    {
      signal,
      ...options
    }: StreamOptions<Mode> & Omit<RunOptions, 'wait'> & RunStartOptions & QueueOptions = {},
  ): AsyncGenerator<StreamEvent<State, Update, Mode>, void> {
    type Event = StreamEvent<State, Update, Mode>;
    if (input === null) {
      const read = streamThere(id, { ...options, signal }, () => this.#access.follow(id));
      return read as AsyncGenerator<Event, void>;
    }
    const drive = async (tell: (event: Event) => void, stop: AbortSignal) => {
      if (!isIdAlone(input, options)) await this.start(id, input, options);
      const how = { ...options, signal: stop };
      await this.#access.drive(
        id,
        streamingDrive<Graph, State, Update, Event>([id, input, how], tell),
        this.#letGo(id),
      );
    };
    return toldBy(drive, signal);
  }

  /** Resolves once a run that waits can go on, or has ended; false where `signal` was aborted before. */
  async #canGoOn(id: string, isBusy: boolean, signal: AbortSignal | undefined): Promise<boolean> {
    let restMs = isBusy ? BUSY_MS : 0;
    const waits = ({ status, until }: RunDetails<Output>) => {
      if (hasEnded(status)) return 'done';
      if (restMs > 0) {
        const ms = restMs;
        restMs = 0;
        return ms;
      }
      if (until === undefined) return null;
      const ms = until - this.#plan.now();
      return ms <= 0 ? 'done' : ms;
    };
    return waits(await this.#follow(id, signal, waits)) === 'done';
  }

  async drive(
    held: LeasedRun,
    { signal, abort }: { readonly signal: AbortSignal; readonly abort: AbortSignal },
  ): Promise<RunRelease> {
    const opened = new LeasedApp(held, this.#plan);
    await opened.drive((told) => internalsOf(opened.app).drive(held.id, { signal, ...told }), abort);
    return this.#standing(held.id, internalsOf(opened.app).store);
  }

  #letGo(id: string): (opened: AppInstance<Graph, State, Update>) => RunRelease {
    return ({ app }) => this.#standing(id, internalsOf(app).store);
  }

  /** Where it stands; a run of this shape is this graph's from then on. */
  #standing(id: string, store: EngineStore): RunRelease {
    const queue = isInQueue(this.queue, id, store) && { queue: this.queue };
    return { ...releaseOf(id, store), view: runIndexOf(id, store), ...queue };
  }

  /**
   * Records a decision on a gate and wakes the run, in one commit. Of two people, one wins.
   *
   * @returns The session as it will be in the run's file.
   * @throws DevsError as `DurableApp.decide`.
   */
  async decide(gate: Pick<Gate, 'sessionId' | 'artifactHash'>, given: GateAnswer): Promise<HitlSession> {
    const { sessionId } = gate;
    const answer = readOnce(given);
    const id = await this.runs.runOfGate(sessionId);
    if (id === null) throw new HitlSessionNotFoundError(sessionId);
    const whose = ({ sessions }: EngineStore) => sessions.require(sessionId).threadId ?? id;
    return this.#access.tell(
      id,
      ({ app, parts }) => signalFromDecision({ app, store: parts.store }, gate, answer),
      whose,
    );
  }

  /** Sends a signal to a run; see `DurableApp.signal`. */
  async signal(id: string, name: string, payload: unknown, options: SignalOptions): Promise<SignalReceipt> {
    return this.#access.tell(id, async ({ app }) => {
      const left = await app.signal(id, name, payload, options);
      const said = { name, payload: payload ?? null, ...options };
      const signal = { ...said, kind: 'message', id: messageId(id, options.signalId) } as const;
      return { left, signal: left.isNew ? signal : null };
    });
  }

  /** Asks the process that runs it to stop at the next safe point. Resume it with `start`. */
  async pause(id: string): Promise<void> {
    return this.#access.tell(id, async ({ app }) => ({
      left: await app.pause(id),
      signal: { id: this.#plan.newId(), kind: 'pause' },
    }));
  }

  /** Ends the run or its current turn; see `DurableApp.cancel`. */
  async cancel(id: string): Promise<void> {
    return this.#access.tell(id, async ({ app }) => ({
      left: await app.cancel(id),
      signal: { id: this.#plan.newId(), kind: 'cancel' },
    }));
  }

  /** Returns all values of the graph at the latest checkpoint, private channels included. */
  async values(id: string): Promise<State | null> {
    return this.#access.look(id, ({ app }) => app.values(id));
  }

  /** Returns the open gates of a run. */
  async gates(id: string): Promise<readonly Gate[]> {
    return this.#access.look(id, ({ app }) => app.gates(id));
  }

  /** See `DurableApp.getState`. */
  async getState(id: string, options: SnapshotOptions = {}): Promise<RunSnapshot<State>> {
    return this.#access.look(id, ({ app }) => app.getState(id, options));
  }

  /** See `DurableApp.getStateHistory`. */
  async getStateHistory(id: string, options: HistoryOptions = {}): Promise<readonly RunSnapshot<State>[]> {
    return this.#access.look(id, ({ app }) => app.getStateHistory(id, options));
  }

  /**
   * Yields the run's log as it is recorded, until the run ends or `signal` is aborted.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   *
   * @example
   * ```ts
   * for await (const { seq, name, payload } of app.follow('mail-7', { after: 12 })) show(seq, name, payload);
   * ```
   */
  follow(id: string, options: FollowOptions = {}): AsyncGenerator<EventRecord, void> {
    return followRun(id, options, () => this.#access.follow(id));
  }

  /** Lists runs of every graph, newest first, in pages. @throws RangeError */
  async list(filter: RunFilter = {}): Promise<RunPage> {
    return this.runs.list(filter);
  }

  /** Lists the open gates of every run, oldest first, in pages. @throws RangeError */
  async openGates(page: PageRequest = {}): Promise<GatePage> {
    return this.runs.gates(page);
  }

  /** See `DurableApp.updateState`. The run then continues. */
  async updateState(
    id: string,
    values: Partial<Update> | null,
    update: StateUpdate,
  ): Promise<{ readonly configurable?: Readonly<Record<string, unknown>> }> {
    return this.#change(id, ({ app }) => app.updateState(id, values, update));
  }

  /**
   * See `DurableApp.acceptGraph`; also for a run of a graph with another name. Workers with this graph then execute the
   * run.
   */
  async acceptGraph(id: string, acceptance: GraphAcceptance): Promise<AcceptedGraph> {
    return this.#access.takeOver(id, ({ app }) => app.acceptGraph(id, acceptance), this.#letGo(id));
  }

  /** See `DurableApp.revive`. The run then continues. */
  async revive(id: string, { by }: { readonly by: Principal }): Promise<boolean> {
    return this.#change(id, ({ app }) => app.revive(id, { by }), true);
  }

  /** See `DurableApp.prune`. */
  async prune(id: string, retention: Retention): Promise<PruneResult> {
    return this.#change(id, ({ app }) => app.prune(id, retention));
  }

  /**
   * Creates another run from a checkpoint, see `DurableApp.fork`. It has its own file and a worker executes it.
   *
   * @throws DevsError as `DurableApp.fork`.
   */
  async fork(id: string, fork: ForkOptions, place: QueueOptions = {}): Promise<ForkResult> {
    const { as } = fork;
    return this.#access.look(id, async ({ app }, { isCopy }) => {
      const forked = await app.fork(id, fork);
      if (!isCopy) return forked;
      const { gates, ...stands } = this.#standing(as, internalsOf(app).store);
      const index = { ...stands, gates: gates.filter(({ threadId }) => threadId === as) };
      const file = extractRun(internalsOf(app).store.db, as);
      if (!(await this.runs.create({ ...place, id: as, queue: this.queue, file, index })))
        throw threadExists(as);
      return forked;
    });
  }

  /**
   * Deletes a run that has ended, with its whole file, lines of its decisions included.
   *
   * @throws DevsError as `DurableApp.delete`.
   */
  async delete(id: string, { by }: { readonly by: Principal }): Promise<DeleteResult> {
    return { runs: 1, bytes: await this.#access.remove(id, endedOnly(id, by), this.#letGo(id)) };
  }

  /** @param goesOn - It is driven then, whatever it stands at. */
  #change<T>(
    id: string,
    change: (opened: AppInstance<Graph, State, Update>) => Promise<T>,
    goesOn = false,
  ): Promise<T> {
    return this.#access.change(id, change, ({ parts: { store } }) => {
      const standing = this.#standing(id, store);
      return goesOn && !isOver(standing.status) ? { ...standing, until: store.now() } : standing;
    });
  }

  /** Closes `runs`, and with it every app that uses it. */
  async close(): Promise<void> {
    await this.runs.close();
  }
}

const FILE_OF_ITS_OWN =
  "With `runs`, each run has its own file, so `store: 'file'` would not be shared: use a BaseStore.";

import { endingWith } from '../../errors/DevsError.ts';
import { withOwnSignal } from '../../events/onAbort.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import { endIsMissing } from '../../state/threads/ChildStore.ts';
import {
  awaitsInput,
  type EndedStatus,
  hasEnded,
  type Lease,
  type Thread,
} from '../../state/threads/threadRecords.ts';
import { planTake, takeGraph } from '../change/takeGraph.ts';
import {
  assertBetweenNodes,
  type CheckpointUpdate,
  type RecordUpdate,
  rewindTo,
} from '../change/updateRun.ts';
import { outputOf, readState, readStateAt, readValues, readValuesAt } from '../drive/compiledGraph.ts';
import {
  type DriveOptions,
  type DueRuns,
  type DueWork,
  drive,
  type RunDueOptions,
  runDue,
} from '../drive/drive.ts';
import { ASKED_TO_STOP, waitUntilWoken } from '../drive/due.ts';
import type { Engine } from '../drive/Engine.ts';
import type { NewRunLabels } from '../drive/givenLabels.ts';
import { holdRun, nullIfBusy } from '../drive/lease.ts';
import { OwnRuns } from '../drive/ownRuns.ts';
import {
  type Driven,
  isOver,
  type RunResult,
  type SessionOutcome,
  throwIfAborted,
  throwIfFailed,
} from '../drive/RunResult.ts';
import { assertIsRun, hasNoOptions, isIdAlone, pickInvokeOptions } from '../drive/runInput.ts';
import { type SignalReceipt, signalRun, type TurnBehind } from '../drive/signals.ts';
import { type WorkOptions, work } from '../drive/work.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { gateWithDeadlines } from '../gates/Gate.ts';
import { asHuman, type Principal, principalText } from '../gates/principals.ts';
import { assertSameGraph, graphFingerprint, isSameGraph } from '../graph/graphShape.ts';
import { type NewRunRecord, RunStarts } from '../start/RunStarts.ts';
import type { StartedRun } from '../start/startedRun.ts';
import { listTurns, type TurnInfo } from '../start/turnList.ts';
import { assertStrategy, assertTurnKey, driveTurn } from '../start/turns.ts';
import type { StreamEvent } from '../stream/StreamEvent.ts';
import { type StreamOptions, type StreamParts, streamRun } from '../stream/streamRun.ts';
import type { ChildApp } from '../waits/children.ts';
import type { AppInternals, OwnDriveOptions } from './appInternals.ts';
import type { RunOptions, RunStartOptions, Said, SignalStart } from './RunOptions.ts';

type OwnRunOptions = RunOptions & Pick<DriveOptions, 'prepare' | 'lost' | 'settles'>;

function givenTo(input: unknown, { turn, ...options }: RunStartOptions) {
  if (turn !== undefined) assertTurnKey(turn);
  const { by, budget, owner, multitaskStrategy: strategy = 'reject' } = options;
  assertStrategy(strategy, turn);
  return { input, options: pickInvokeOptions(options), turn: turn ?? null, by, budget, owner, strategy };
}

/**
 * A graph over one open state file: records, executes and reads the runs in it. The file is a user's own, a copy, or that of a
 * claimed run.
 */
export class FileApp<Graph, State, Update, Output = State> implements AppInternals<Output> {
  /** Compiled. */
  readonly graph: Graph;
  readonly store: EngineStore;
  readonly engine: Engine;
  readonly fingerprint: string;
  readonly newId: () => string;
  readonly maxDepth: number;
  /** Runs of this file can be children. */
  readonly asChild: ChildApp;
  readonly #starts: RunStarts;

  readonly #isDriven: boolean | undefined;

  /**
   * @param graph - The one of the engine, in the type of its builder.
   * @param isDriven - Of a copy: whether a live process executes its run. @defaultValue the leases in the file say so
   */
  constructor(engine: Engine, graph: Graph, isDriven?: boolean) {
    this.graph = graph;
    this.store = engine.store;
    this.engine = engine;
    this.fingerprint = graphFingerprint(engine.shape);
    this.newId = engine.newId;
    this.maxDepth = engine.maxDepth;
    this.#isDriven = isDriven;
    this.#starts = new RunStarts(engine);
    this.asChild = {
      db: engine.store.db,
      ready: (id, input, options) => this.#starts.prepareChild(id, input, options),
      drive: (id, options) => this.#driveOnce(id, options),
      endedWith: (id, checkpointId) => this.#endedWith(id, checkpointId),
    };
  }

  /** `value`, once everything it rests on has arrived in storage. */
  readonly arrived = <T>(value: T | Promise<T>): Promise<T> => afterBarrier(this.store.outlet, value);

  /** Whether a live process executes a run of this file. */
  isDriven(id: string): boolean {
    return this.#isDriven ?? this.store.threads.driverOf(id) !== null;
  }

  async recordRun(admission: NewRunRecord): Promise<Thread> {
    return this.arrived(this.#starts.admit(admission));
  }

  /** Records a run for a worker; without an input, that it goes on. */
  async start(id: string, input?: Update, options: RunStartOptions = {}): Promise<void> {
    if (isIdAlone(input, options) && !awaitsInput(this.store.threads.require(id))) return this.#goOn(id);
    return this.arrived(this.#starts.begin(id, { ...givenTo(input, options), isHandedOver: true }));
  }

  /** A new run without a turn, to be written into a file of its own. */
  async startedRun(id: string, input: Update, options: Omit<RunStartOptions, 'turn'>): Promise<StartedRun> {
    return this.#starts.startedRun(id, { ...givenTo(input, options), turn: null });
  }

  /** A turn for a run of another process, as its signal; `null` for a known turn. */
  async turnBehind(
    id: string,
    input: Update | undefined,
    options: RunStartOptions,
  ): Promise<TurnBehind | null> {
    const { strategy, ...given } = givenTo(input, options);
    if (strategy === 'reject') return null;
    return this.#starts.turnBehind(id, { ...given, strategy });
  }

  /** Turns of a run, oldest first. */
  turns(id: string): readonly TurnInfo[] {
    return listTurns(id, this.engine);
  }

  /** Leaves a run that was paused or has failed to a worker. Any other is left alone. */
  async #goOn(id: string): Promise<void> {
    const { threads } = this.store;
    const { status } = threads.require(id);
    if (status !== 'paused' && status !== 'failed') return;
    const leave = async (lease: Lease): Promise<void> => threads.reopen(lease, 'paused', ASKED_TO_STOP);
    await this.arrived(nullIfBusy(() => this.withLease(id, leave)));
  }

  /** Signals a run; starts it in the same transaction if it does not exist. */
  async signalOrStart(
    id: string,
    said: Said,
    { input, ...options }: Pick<SignalStart<Update>, 'input'> & RunStartOptions,
  ): Promise<SignalReceipt> {
    const tell = (): SignalReceipt => signalRun(id, said, this);
    return this.arrived(this.#starts.beginWith(id, givenTo(input, options), tell));
  }

  /** Records a run before its first input; false for a known id. */
  async create(id: string, given: NewRunLabels): Promise<boolean> {
    return this.arrived(this.#starts.create(id, given));
  }

  async run(
    id: string,
    input: Update | undefined,
    { turn, ...options }: OwnRunOptions,
  ): Promise<RunResult<Output>> {
    if (turn === undefined && input === undefined && hasNoOptions(pickInvokeOptions(options)))
      return throwIfAborted(await this.#drive(id, options), options);
    const given = givenTo(input, { ...options, ...(turn !== undefined && { turn }) });
    return this.#keepingReads(id, async () => {
      await this.arrived(this.#starts.begin(id, given));
      return throwIfAborted(await this.#driveTurn(id, turn ?? null, options), options);
    });
  }

  async drive(id: string, options: OwnDriveOptions = {}): Promise<RunResult<Output>> {
    return this.#drive(id, options);
  }

  /** Executes every due run of the file. */
  runDue(options: RunDueOptions): Promise<DueRuns<RunResult<Output>>> {
    return runDue(options, this.#dueWork());
  }

  /** Executes due and new runs until `signal` is aborted. */
  work(options: WorkOptions<RunResult<Output>>): Promise<void> {
    return work(options, this.#dueWork());
  }

  #dueWork(): DueWork<RunResult<Output>> {
    const { store, engine } = this;
    const drive = async (id: string, how: DriveOptions): Promise<RunResult<Output>> => {
      // The app of a child is not this one where the graphs differ: its parent knows it.
      if (store.children.find(id) !== null) assertSameGraph(store.threads.require(id), engine.shape);
      return this.#driveOnce(id, how);
    };
    return { own: new OwnRuns(engine), store, drive };
  }

  async #driveTurn(id: string, turn: string | null, options: OwnRunOptions): Promise<RunResult<Output>> {
    const end = () => this.store.inputs.find(id, turn)?.end ?? null;
    return driveTurn({
      end,
      drive: (assertCurrent) => {
        const prepare: DriveOptions['prepare'] = async (lease) => {
          assertCurrent();
          await options.prepare?.(lease);
        };
        const isPrepared = (): boolean => options.prepare === undefined && end() === null;
        return this.#drive(id, { ...options, prepare, isPrepared }, () => end() !== null);
      },
      past: async ({ status, reason, checkpointId }) => ({
        status: status as EndedStatus,
        reason,
        gates: [],
        values: await (turn === this.store.inputs.latest(id)?.key
          ? this.#endedWith(id, checkpointId)
          : this.#outputAt(id, checkpointId)),
        ...(turn !== null && { turn }),
      }),
    });
  }

  async #drive(
    id: string,
    { wait = false, ...options }: Pick<RunOptions, 'wait'> & DriveOptions,
    isOver?: () => boolean,
  ): Promise<RunResult<Output>> {
    let result = await this.#driveOnce(id, options);
    const stops = [options.drain, options.signal, options.abort, options.lost];
    while (wait && result.status === 'waiting') {
      const { until } = result;
      const isWoken = await withOwnSignal(stops, (signal) =>
        waitUntilWoken(this.store, { threadId: id, until, signal, isOver }),
      );
      if (!isWoken) return result;
      result = (await nullIfBusy(() => this.#driveOnce(id, options))) ?? result;
    }
    return result;
  }

  /** Rows that a driver reads again and again are read from the file after any write that may have changed them. */
  #keepingReads<T>(id: string, work: () => Promise<T>): Promise<T> {
    return endingWith(this.store.threads.keepReads(id), work);
  }

  #driveOnce(id: string, options: DriveOptions): Promise<RunResult<Output>> {
    return this.#keepingReads(id, () => this.#driveAndRead(id, options));
  }

  async #driveAndRead(id: string, options: DriveOptions): Promise<RunResult<Output>> {
    const { store } = this;
    assertIsRun(id, store);
    const { outcome, ...driven } = await this.#takeAndDrive(id, options);
    const gates = outcome.gates.map((session) => gateWithDeadlines(session, store));
    // The end of a turn may have begun the next.
    const isNext = hasEnded(outcome.status) && store.threads.require(id).status === 'created';
    const turn = (isNext ? store.inputs.before(id) : store.inputs.latest(id))?.key ?? null;
    const values = 'values' in driven ? driven.values : await this.#valuesAfter(id, outcome);
    const output = outputOf<Output>(this.graph, values);
    return { ...outcome, gates, values: output, ...(turn !== null && { turn }) };
  }

  #valuesAfter(id: string, { status }: SessionOutcome): Promise<State | null> {
    return this.values(id).catch((error: unknown) => {
      // What its channels throw is what the run has failed with.
      if (status === 'failed') return null;
      throw error;
    });
  }

  /** A run that the graph refuses is not claimed. One that it takes is moved before its nodes execute. */
  async #takeAndDrive(id: string, options: DriveOptions): Promise<Driven> {
    const { engine, store } = this;
    const thread = store.threads.require(id);
    if (!isOver(thread.status)) await outsideGraphs(() => planTake(thread, engine));
    const prepare: DriveOptions['prepare'] = async (lease) => {
      await outsideGraphs(() => takeGraph(lease, engine));
      await options.prepare?.(lease);
    };
    const isPrepared = (): boolean => {
      const { prepare: own, isPrepared: isOwn } = options;
      const isDone = own === undefined || isOwn?.() === true;
      return isDone && isSameGraph(store.threads.require(id), engine.shape);
    };
    const { isDue: _, ...how } = { ...options, prepare, isPrepared };
    let driven = await drive(id, engine, { ...options, prepare, isPrepared });
    while (driven.isAnswered === true) {
      const next = await nullIfBusy(() => drive(id, engine, how));
      if (next === null) break;
      driven = next;
    }
    return driven;
  }

  /**
   * Executes a run and yields its events; with `null` as input it only reads.
   *
   * @param ended - Receives the result of the execution. The stream throws its error after the last event.
   */
  stream(
    id: string,
    input: Update | null | undefined,
    options: StreamOptions & OwnRunOptions,
    ended: (result: RunResult<Output>) => unknown = (result) => throwIfFailed(id, result, options),
  ): AsyncGenerator<StreamEvent, void> {
    const execute =
      input === null
        ? null
        : async (call: RunOptions) => ended(await this.run(id, input, { ...options, ...call }));
    const stateAt: StreamParts['stateAt'] = (...at) => readStateAt(this.graph, ...at);
    return streamRun(id, options, execute, { ...this.engine, stateAt });
  }

  /** All values of the graph at the latest checkpoint, private channels included; `null` before the first. */
  values(id: string): Promise<State | null> {
    const { saver } = this.engine;
    const at = { configurable: { thread_id: id } };
    return readValues(this.graph, (graph) => readState(graph, at, saver));
  }

  /** At an earlier checkpoint; `null` where there was none, and once it was pruned away. */
  async #outputAt(id: string, checkpointId: string | null): Promise<Output | null> {
    return outputOf(this.graph, await readValuesAt(this.graph, id, checkpointId));
  }

  /** At a checkpoint that is not pruned. @throws DevsError `STATE_CORRUPT` where it is missing. */
  async #endedWith(id: string, checkpointId: string | null): Promise<Output | null> {
    const values = await this.#outputAt(id, checkpointId);
    if (values === null && checkpointId !== null) throw endIsMissing(id);
    return values;
  }

  withLease<T>(id: string, work: (lease: Lease) => Promise<T>): Promise<T> {
    return holdRun(id, work, this.engine);
  }

  /** Brings back a dead letter. Returns false for any other run. */
  async revive(id: string, by: Principal): Promise<boolean> {
    const { threads } = this.store;
    const principal = principalText(asHuman(by, id, 'revive'));
    if (threads.require(id).status !== 'dead_letter') return false;
    return this.withLease(id, async (lease) =>
      this.store.commit((emit) => {
        const isRevived = threads.revive(lease, `revived by ${principal}`);
        if (isRevived) emit('RUN_REVIVED', { principal }, { threadId: id });
        return isRevived;
      }),
    );
  }

  rewindTo(lease: Lease, placement: CheckpointUpdate, record: RecordUpdate): Promise<void> {
    return outsideGraphs(() => rewindTo(lease, placement, record, this.engine));
  }

  betweenNodes<T>(id: string, work: (lease: Lease) => Promise<T>): Promise<T> {
    return this.withLease(id, async (lease) => {
      await outsideGraphs(() => assertBetweenNodes(id, this.engine));
      return await work(lease);
    });
  }
}

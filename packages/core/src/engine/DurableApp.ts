import type { BaseStore } from '@langchain/langgraph-checkpoint';
import { whenFree } from '../db/busy.ts';
import type { EventBus } from '../events/EventBus.ts';
import type { PruneResult } from '../state/checkpoints/CheckpointPruner.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { HitlSession } from '../state/gates/HitlSessionStore.ts';
import { endIsMissing } from '../state/threads/ChildStore.ts';
import type { EndedStatus } from '../state/threads/threadRecords.ts';
import { type AppInternals, internalsOf, registerInternals } from './appInternals.ts';
import { type AcceptedGraph, acceptGraph, type GraphAcceptance } from './change/acceptGraph.ts';
import { assertBetweenNodes, rewindTo } from './change/rewindTo.ts';
import type { DurableParts } from './DurableParts.ts';
import { cancelRun } from './drive/cancelRuns.ts';
import { type DriveOptions, drive } from './drive/drive.ts';
import { waitUntilWoken } from './drive/due.ts';
import type { Engine } from './drive/Engine.ts';
import { outsideGraphs } from './drive/graphCall.ts';
import { holdRun, nullIfBusy } from './drive/lease.ts';
import { throwIfFailed } from './drive/outcome.ts';
import { outputOf, readState, readValues, readValuesAt } from './drive/readState.ts';
import { type DueRuns, type RunDueOptions, runDue } from './drive/runDue.ts';
import { assertIsRun, hasNoOptions, pickInvokeOptions } from './drive/runInput.ts';
import { type SignalOptions, type SignalReceipt, signalRun } from './drive/signalRun.ts';
import type { EngineStore } from './EngineStore.ts';
import { type Gate, type GateAnswer, gatesOf, gateWithDeadlines } from './gates/Gate.ts';
import type { Principal } from './gates/HumanInTheLoopManager.ts';
import { decideGate } from './gates/parsedGates.ts';
import { asHuman, principalText } from './gates/principals.ts';
import type { EngineGraph } from './graph/EngineGraph.ts';
import { graphFingerprint } from './graph/graphShape.ts';
import type { RunOptions, RunStartOptions } from './RunOptions.ts';
import type { RunResult } from './RunResult.ts';
import { ManagedRuns } from './runs/ManagedRuns.ts';
import type { Retention } from './saver/ThreadPruner.ts';
import { RunStarts } from './start/RunStarts.ts';
import { assertTurnKey, driveTurn } from './start/turns.ts';
import { NO_STORE } from './store/resolveStore.ts';
import type { StreamEvent, StreamMode } from './stream/StreamEvent.ts';
import { type StreamOptions, type StreamParts, streamRun } from './stream/streamRun.ts';
import { registerApp } from './waits/children.ts';

/**
 * A compiled graph with its state file. Several processes can open the same file. Methods that read or write a run
 * return a promise and reject for a wrong call.
 */
export class DurableApp<Graph, State, Update, Output = State> extends ManagedRuns<State, Update> {
  /** The compiled LangGraph graph, for reading (`getState`, `getGraph`). Execute runs with `run`. */
  readonly graph: Graph;
  /** The store that nodes have as `config.store`. Without a store, its methods throw a `TypeError`. */
  readonly memory: BaseStore;
  readonly events: EventBus;
  /**
   * SHA-256 (hex) of node and channel names, gates and the author's version. A run continues only on a graph with its
   * fingerprint.
   */
  readonly fingerprint: string;
  readonly #store: EngineStore;
  readonly #engine: Engine;
  readonly #close: () => void;
  readonly #starts: RunStarts;

  constructor(parts: DurableParts<Graph>) {
    // Everything LangGraph compiles has these methods; its type does not say so.
    const engine: Engine = { ...parts, graph: parts.graph as unknown as EngineGraph };
    super(engine);
    this.graph = parts.graph;
    this.#store = parts.store;
    this.memory = parts.memory ?? NO_STORE;
    this.events = parts.events;
    this.fingerprint = graphFingerprint(parts.shape);
    this.#engine = engine;
    this.#close = parts.close;
    this.#starts = new RunStarts(engine);
    registerApp(this, {
      db: parts.store.db,
      ready: (id, input, options) => this.#starts.prepareChild(id, input, options),
      drive: (id, options) => this.#driveOnce(id, options),
      endedWith: (id, checkpointId) => this.#endedWith(id, checkpointId),
    });
    registerInternals(this, this.#internals());
  }

  #internals(): AppInternals<Output> {
    const { newId, maxDepth } = this.#engine;
    return {
      ...{ store: this.#store, newId, maxDepth },
      recordRun: async (admission) => afterBarrier(this.#store.outlet, this.#starts.admit(admission)),
      run: (id, input, options) => this.#run(id, input as Update, options),
      drive: async (id, options = {}) => throwIfFailed(id, await this.#drive(id, options), options),
      withLease: (id, work) => holdRun(id, work, this.#engine),
      rewindTo: (lease, placement, record) =>
        outsideGraphs(() => rewindTo(lease, placement, record, this.#engine)),
      betweenNodes: (id, work) =>
        holdRun(
          id,
          async (lease) => {
            await outsideGraphs(() => assertBetweenNodes(id, this.#engine));
            return await work(lease);
          },
          this.#engine,
        ),
    };
  }

  /**
   * Starts the run `id`, or resumes it. The same id is the same run in every process. Returns when the run ends, waits
   * or is paused.
   *
   * The input, `context`, `configurable`, `tags` and `metadata` are recorded with the first call; later calls can
   * repeat or omit them. `callbacks` apply to this call only.
   *
   * With a new `turn`, the reducers add the input to the state of the last turn, as LangGraph's second `invoke` on a
   * thread does. With a known `turn`, it resumes that turn or returns its result.
   *
   * @throws DevsError `THREAD_NOT_FOUND` without `input` for an unknown id; `INPUT_NOT_TAKEN` for another input or
   *   context, and for a new turn before the last one ended; `INVALID_INPUT` for a `Command`, a context that the graph
   *   rejects, a reserved name in `configurable`, or a new turn without input; `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`;
   *   `GRAPH_CHANGED`; `THREAD_BUSY` while another process runs it; `THREAD_NOT_OURS` for an id with checkpoints but
   *   without a run; `RUN_FAILED` with `throwOnFailure`.
   *
   * @example
   * ```ts
   * await app.run('mail-7', { mail }, { context: { tenant: 'acme' }, callbacks: [tracer] });
   * await app.run('mail-7'); // any process: the same context
   * await app.run('chat-1', { messages: [question] }, { turn: 'm-17' }); // the next turn of a chat, once
   * ```
   */
  async run(id: string, input?: Update, options: RunOptions = {}): Promise<RunResult<Output>> {
    return this.#run(id, input, options);
  }

  async #run(
    id: string,
    input: Update | undefined,
    { turn, ...options }: RunOptions & Pick<DriveOptions, 'prepare'>,
  ): Promise<RunResult<Output>> {
    if (turn === undefined && input === undefined && hasNoOptions(pickInvokeOptions(options)))
      return throwIfFailed(id, await this.#drive(id, options), options);
    await this.start(id, input, { ...options, ...(turn !== undefined && { turn }) });
    return throwIfFailed(id, await this.#driveTurn(id, turn ?? null, options), options);
  }

  /**
   * Records a run as `run` does, without executing it. Use it in a service that answers before the work is done; then
   * call `runDue`, or `run` with the id alone, in any process.
   *
   * @throws DevsError as `run`.
   */
  async start(id: string, input?: Update, { turn, ...options }: RunStartOptions = {}): Promise<void> {
    if (turn !== undefined) assertTurnKey(turn);
    const { by, budget } = options;
    const given = { input, options: pickInvokeOptions(options), turn: turn ?? null, by, budget };
    return afterBarrier(this.#store.outlet, this.#starts.begin(id, given));
  }

  async #driveTurn(
    id: string,
    turn: string | null,
    options: RunOptions & Pick<DriveOptions, 'prepare'>,
  ): Promise<RunResult<Output>> {
    const end = () => this.#store.inputs.find(id, turn)?.end ?? null;
    return driveTurn({
      end,
      drive: (assertCurrent) => {
        const prepare: DriveOptions['prepare'] = async (lease) => {
          assertCurrent();
          await options.prepare?.(lease);
        };
        return this.#drive(id, { ...options, prepare }, () => end() !== null);
      },
      past: async ({ status, reason, checkpointId }) => ({
        status: status as EndedStatus,
        reason,
        gates: [],
        values: await (turn === this.#store.inputs.latest(id)?.key
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
    while (wait && result.status === 'waiting' && options.abort?.aborted !== true) {
      const { until } = result;
      const awaiting = { threadId: id, until, signal: options.signal, isOver };
      if (!(await waitUntilWoken(this.#store, awaiting))) return result;
      result = (await nullIfBusy(() => this.#driveOnce(id, options))) ?? result;
    }
    return result;
  }

  async #driveOnce(id: string, options: DriveOptions): Promise<RunResult<Output>> {
    const { store } = this.#engine;
    assertIsRun(id, store);
    const outcome = await drive(id, this.#engine, options);
    const gates = outcome.gates.map((session) => gateWithDeadlines(session, store));
    const turn = store.inputs.latest(id)?.key ?? null;
    const values = await this.values(id).catch((error: unknown) => {
      // What its channels throw is what the run has failed with.
      if (outcome.status === 'failed') return null;
      throw error;
    });
    const output = outputOf<Output>(this.graph, values);
    return { ...outcome, gates, values: output, ...(turn !== null && { turn }) };
  }

  /**
   * Executes every run that can continue without a person, one after the other: its timer is due, its signal arrived,
   * its process died, or it was recorded ten seconds ago and has not been executed since. Several processes can call
   * this at once; each run is executed by one of them. Call it every few seconds, or at the next `until`.
   *
   * @returns The runs it executed, and the due runs it could not execute (for example runs of another graph).
   * @throws RangeError for a `limit` below 1 or an invalid `now`.
   *
   * @example
   * ```ts
   * for (const { id, status } of (await app.runDue({ limit: 20 })).driven) log(id, status);
   * ```
   */
  async runDue(options: RunDueOptions = {}): Promise<DueRuns<RunResult<Output>>> {
    return runDue(options, this.#store, (id, how) => this.#driveOnce(id, how));
  }

  /**
   * Sends a signal to a run. The signal is stored until a node receives it with `waitFor(name)`, oldest first. Does not
   * execute the run and never decides a gate. The same `signalId` is the same signal.
   *
   * @param payload - Plain JSON, at most `limits.signalBytes`.
   * @throws DevsError `THREAD_NOT_FOUND`; `SIGNAL_NOT_TAKEN` if the run has ended or the id belongs to another signal;
   *   `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`. The run is unchanged then.
   *
   * @example
   * ```ts
   * await app.signal('order-7', 'payment', { amount: 120 }, { by: { kind: 'policy', id: 'bank' }, signalId: event.id });
   * ```
   */
  async signal(id: string, name: string, payload: unknown, options: SignalOptions): Promise<SignalReceipt> {
    const store = this.#store;
    const told = { name, payload, ...options };
    return afterBarrier(
      store.outlet,
      whenFree(store.db, () => signalRun(id, told, { store })),
    );
  }

  /**
   * Executes the run as `run` does and yields its events. With `null` as input it only reads, in any process, until the
   * run ends or `signal` is aborted. Every event is stored before it is yielded, so a reader can continue with `after`
   * at any time. Leaving the loop pauses the run at the next safe point.
   *
   * @throws DevsError as `run`; `STREAM_NOT_KEPT` if `after` is older than the stored events, the run was not recorded,
   *   or its checkpoint was pruned. RangeError, TypeError for wrong options.
   *
   * @example
   * ```ts
   * for await (const { mode, seq, data } of app.stream('mail-7', { mail })) if (mode === 'updates') show(seq, data);
   * for await (const event of app.stream('mail-7', null, { after: 12 })) show(event); // any process
   * ```
   */
  stream<const Mode extends StreamMode = 'updates'>(
    id: string,
    input?: Update | null,
    options: StreamOptions<Mode> & RunOptions = {},
  ): AsyncGenerator<StreamEvent<State, Update, Mode>, void> {
    const drive = input === null ? null : (call: RunOptions) => this.run(id, input, { ...options, ...call });
    const valuesAt: StreamParts['valuesAt'] = (...at) => this.#valuesAt(...at);
    const events = streamRun(id, options, drive, { ...this.#engine, valuesAt });
    return events as AsyncGenerator<StreamEvent<State, Update, Mode>, void>;
  }

  /** Asks the process that runs it to stop at the next safe point. Resume it with `run`. */
  async pause(id: string): Promise<void> {
    const { runs, outlet } = this.#store;
    const pause = { id: this.#engine.newId(), kind: 'pause', payload: null } as const;
    await runs.whenFree(() => runs.signal(id, pause));
    return afterBarrier(outlet, undefined);
  }

  /**
   * Ends the run or its current turn, and its child runs: at once if no process runs it, else at its next safe point. A
   * cancelled turn cannot resume; a new turn can start.
   */
  async cancel(id: string): Promise<void> {
    return cancelRun(id, this.#engine.newId(), this.#engine);
  }

  /**
   * Returns all values of the graph at the latest checkpoint, private channels included; `null` before the first
   * checkpoint.
   */
  async values(id: string): Promise<State | null> {
    const { saver } = this.#engine;
    return readValues(this.graph, (graph) => readState(graph, configFor(id), saver));
  }

  /** At an earlier checkpoint; `null` where there was none, and once it was pruned away. */
  #valuesAt(id: string, checkpointId: string | null): Promise<State | null> {
    return readValuesAt(this.graph, id, checkpointId);
  }

  async #outputAt(id: string, checkpointId: string | null): Promise<Output | null> {
    return outputOf(this.graph, await this.#valuesAt(id, checkpointId));
  }

  /** At a checkpoint that is not pruned. @throws DevsError `STATE_CORRUPT` where it is missing. */
  async #endedWith(id: string, checkpointId: string | null): Promise<Output | null> {
    const values = await this.#outputAt(id, checkpointId);
    if (values === null && checkpointId !== null) throw endIsMissing(id);
    return values;
  }

  /** Returns the open gates of a run, oldest first. */
  async gates(id: string): Promise<readonly Gate[]> {
    return gatesOf(id, this.#store);
  }

  /**
   * Records a decision on a gate. Resume the run with `run`, in any process. At a gate with several approvers, an
   * approval is a vote: the session stays `awaiting_approval` and has its `votes`.
   *
   * @throws DevsError `GATE_STALE` if the content changed, `GATE_ALREADY_DECIDED` with the recorded decision,
   *   `AGENT_MAY_NOT_DECIDE`, `MAY_NOT_APPROVE`, `ALREADY_VOTED`, `INVALID_ANSWER`, `FEEDBACK_REQUIRED`,
   *   `QUOTE_NOT_SHOWN` for a comment. The gate is unchanged then.
   */
  async decide(gate: Pick<Gate, 'sessionId' | 'artifactHash'>, answer: GateAnswer): Promise<HitlSession> {
    const { db, outlet } = this.#store;
    return afterBarrier(
      outlet,
      whenFree(db, () => decideGate(gate, answer, this.#engine)),
    );
  }

  /**
   * Lets a run continue on this graph after `GRAPH_CHANGED`. Declare every name that is gone. Executes nothing.
   * Accepting the run's own graph changes nothing.
   *
   * @throws DevsError `GRAPH_NOT_ACCEPTED` with a `reason` in its context if recorded or due work would be lost;
   *   `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `THREAD_BUSY`, `THREAD_NOT_FOUND`. The run is unchanged then.
   *
   * @example
   * ```ts
   * await app.acceptGraph('post-42', { by: { kind: 'human', id: 'ada' }, renamed: { nodes: { publish: 'release' } } });
   * ```
   */
  async acceptGraph(id: string, acceptance: GraphAcceptance): Promise<AcceptedGraph> {
    const accepted = outsideGraphs(() => acceptGraph(id, acceptance, this.#engine));
    return afterBarrier(this.#store.outlet, accepted);
  }

  /**
   * Brings back a run that became a dead letter because its processes kept dying. It then resumes from its position
   * with new counters. Executes nothing. Emits `RUN_REVIVED`.
   *
   * @returns False for a run that is not a dead letter; it is unchanged.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can revive a run; `WORKSPACE_BUSY`
   *   if its folder belongs to another run now; `THREAD_BUSY`, `THREAD_NOT_FOUND`.
   *
   * @example
   * ```ts
   * await app.revive('post-42', { by: { kind: 'human', id: 'ada' } });
   * ```
   */
  async revive(id: string, { by }: { readonly by: Principal }): Promise<boolean> {
    const principal = principalText(asHuman(by, id, 'revive'));
    if (this.#store.threads.require(id).status !== 'dead_letter') return false;
    return internalsOf(this).withLease(id, async (lease) =>
      this.#store.commit((emit) => {
        const isRevived = this.#store.threads.revive(lease, `revived by ${principal}`);
        if (isRevived) emit('RUN_REVIVED', { principal }, { threadId: id });
        return isRevived;
      }),
    );
  }

  /**
   * Deletes old checkpoints of a run. Keeps the first, the newest, and those that they and open gates need. Holds the
   * run's lease meanwhile.
   *
   * @throws DevsError `THREAD_BUSY` while a process runs it, `THREAD_NOT_FOUND`; RangeError for a bad policy.
   */
  async prune(id: string, retention: Retention): Promise<PruneResult> {
    return holdRun(id, (lease) => this.#engine.saver.prune(id, { ...retention, lease }), this.#engine);
  }

  /** Closes the state file if this app opened it. */
  close(): void {
    this.#close();
  }
}

const configFor = (id: string, checkpointId?: string) => ({
  configurable: { thread_id: id, ...(checkpointId !== undefined && { checkpoint_id: checkpointId }) },
});

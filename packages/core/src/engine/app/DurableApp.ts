import type { BaseStore } from '@langchain/langgraph-checkpoint';
import { isDevsError } from '../../errors/DevsError.ts';
import type { EventBus } from '../../events/events.ts';
import type { PruneResult } from '../../state/checkpoints/CheckpointPruner.ts';
import type { EventRecord, GateEvent } from '../../state/events/EventStore.ts';
import type { WebhookDelivery } from '../../state/events/WebhookStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { hasEnded, runNotFound } from '../../state/threads/threadRecords.ts';
import {
  type AcceptedGraph,
  acceptGraph,
  checkRun,
  type GraphAcceptance,
  type UpgradeCheck,
  type UpgradeLook,
  upgradeCheckOf,
} from '../change/takeGraph.ts';
import { type StateUpdate, updateRun } from '../change/updateRun.ts';
import type { DueRuns, RunDueOptions } from '../drive/drive.ts';
import { assertMetadata } from '../drive/givenLabels.ts';
import { holdRun } from '../drive/lease.ts';
import {
  type NotFailed,
  type RunDetails,
  type RunInfo,
  type RunResult,
  throwIfFailed,
} from '../drive/RunResult.ts';
import type { SignalOptions, SignalReceipt } from '../drive/signals.ts';
import type { CancelOptions, PauseOptions, StopReceipt } from '../drive/stopRequests.ts';
import type { WorkOptions } from '../drive/work.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import type { FileApp } from '../file/FileApp.ts';
import type { CreateOptions, ExecuteOptions, SignalStart, StartOptions } from '../file/RunOptions.ts';
import { type Gate, type GateAnswer, gatesOf, sentAnswer } from '../gates/Gate.ts';
import type { Principal } from '../gates/principals.ts';
import type { RunSnapshot } from '../graph/EngineGraph.ts';
import { type OutboxTarget, type SendOptions, sendOutbox } from '../outbox/OutboxSender.ts';
import { type CompactOptions, type CompactResult, compactFile } from '../runs/compactFile.ts';
import {
  type DeleteFilter,
  type DeleteOptions,
  type DeleteResult,
  deleteExpired,
} from '../runs/deleteRuns.ts';
import { type FollowOptions, followRun, followRunInfo, type Waits } from '../runs/followRun.ts';
import { type ForkOptions, type ForkResult, threadExists } from '../runs/forkRun.ts';
import { type GateEventOptions, type GateEventSource, readGateEvents } from '../runs/gateEvents.ts';
import { cancelNotice, decisionNotice, messageNotice, pauseNotice } from '../runs/notices.ts';
import type {
  GateFilter,
  GatePage,
  QueueOptions,
  RunDriver,
  RunFilter,
  RunPage,
  RunQueue,
  Runs,
} from '../runs/Runs.ts';
import { newRunIdOf, runIdOf } from '../runs/runId.ts';
import { type HistoryOptions, readHistory, readSnapshot, type SnapshotOptions } from '../runs/snapshots.ts';
import { readDetails } from '../runs/standing.ts';
import type { Retention } from '../saver/ThreadPruner.ts';
import {
  type ScheduleInfo,
  type ScheduleOptions,
  type ScheduleTimes,
  scheduleInfo,
} from '../schedules/Schedule.ts';
import { fireUntilStopped, putSchedule, type SchedulerParts } from '../schedules/Scheduler.ts';
import type { TurnInfo } from '../start/turnList.ts';
import { NO_STORE } from '../store/resolveStore.ts';
import type { StreamEvent, StreamMode } from '../stream/StreamEvent.ts';
import type { StreamOptions } from '../stream/streamRun.ts';
import { Telemetry, type TelemetryOptions } from '../telemetry/Telemetry.ts';
import { type ExportedThread, type ExportOptions, exportThread } from '../transfer/exportThread.ts';
import type { ImportedThread, ImportOptions } from '../transfer/importThread.ts';
import { registerApp } from '../waits/children.ts';
import { webhookTargets } from '../webhooks/postWebhook.ts';
import { assertKnownWebhook, type Webhooks } from '../webhooks/Webhook.ts';
import type { AppRuns } from './AppRuns.ts';
import { optionsOf } from './appOptions.ts';
import { keepGoing } from './keepGoing.ts';

const UNENDED = ['created', 'running', 'paused', 'waiting'] as const;
const UPGRADES_A_PAGE = 100;
const UNDELIVERED = 1000;
const SCHEDULES = 1000;

const withoutUndefined = (given: object): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** Properties of an app. */
interface AboutApp<Graph> {
  readonly graph: Graph;
  readonly queue: RunQueue;
  readonly events: EventBus;
  readonly memory: BaseStore | undefined;
  readonly webhooks: Webhooks;
  readonly telemetry: TelemetryOptions | null;
  readonly runs: Runs | null;
  readonly file?: string | null;
}

/**
 * A durable graph. Its runs are in one state file, which several processes can open. In a cluster each run has its own file, and
 * workers execute it. Methods that read or write a run return a promise and reject for a wrong call. In a cluster they reject with
 * `STATE_IO` if the runs cannot be reached.
 */
export class DurableApp<Graph, State, Update, Output = State, AppGate extends Gate = Gate>
  implements RunDriver
{
  /** The compiled LangGraph graph, for drawing; in one state file also for reading (`getState`). Execute runs with `run`. */
  readonly graph: Graph;
  /** The store that nodes have as `config.store`. Without a store, its methods throw a `TypeError`. */
  readonly memory: BaseStore;
  /** Events of runs that this process executes, after they have arrived in storage. */
  readonly events: EventBus;
  /**
   * SHA-256 (hex) of node and channel names, gates and the author's version. A run of another one continues unless it stands on a
   * change; see `checkUpgrade`.
   */
  readonly fingerprint: string;
  /** The queue whose workers execute its runs in a cluster; the name of an unnamed app is empty. */
  readonly queue: RunQueue;
  /** Where each run has its own file; `null` for one state file. */
  readonly runs: Runs | null;
  /** Path of the state file; `null` for one in memory, and where each run has its own. */
  readonly file: string | null;
  /** For a worker: executes a run that it holds. Rejects with `CONFIG_INVALID` in one state file. */
  readonly drive: RunDriver['drive'];
  /** Names of its webhooks, which `run` and `start` can be given as `webhook`. */
  readonly webhooks: readonly string[];
  readonly #webhooks: Webhooks;
  readonly #telemetry: Telemetry;
  /** Whether spans are sent without being asked for. */
  readonly #exports: boolean;
  readonly #runs: AppRuns<Graph, State, Update, Output>;

  constructor(
    { graph, queue, events, memory, webhooks, telemetry, runs, file = null }: AboutApp<Graph>,
    place: AppRuns<Graph, State, Update, Output>,
  ) {
    this.graph = graph;
    this.queue = queue;
    this.fingerprint = queue.fingerprint;
    this.events = events;
    this.memory = memory ?? NO_STORE;
    this.runs = runs;
    this.file = file;
    this.drive = (held, how) => place.drive(held, how);
    this.webhooks = Object.keys(webhooks);
    this.#webhooks = webhooks;
    this.#exports = telemetry !== null;
    this.#telemetry = new Telemetry(telemetry ?? {}, {
      graph: queue.graph,
      read: (id, use) => place.read(id, ({ store }) => use(store)),
    });
    if (this.#exports)
      events.on('LEASE_LOST', (_, { threadId = '' }) => void this.#telemetry.countLostLease(threadId));
    this.#runs = place;
    registerApp(this, (parent) => place.openIn(parent).asChild);
  }

  /**
   * Starts the run `id`, or resumes it, and executes it in this process. The same id is the same run in every process.
   * Returns when the run ends, waits or is paused.
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
   *   without a run; `RUN_FAILED` for a run that is `failed` or a `dead_letter`, unless `throwOnFailure` is `false`.
   *
   * @example
   * ```ts
   * await app.run('mail-7', { mail }, { context: { tenant: 'acme' }, callbacks: [tracer] });
   * await app.run('mail-7'); // any process: the same context
   * await app.run('chat-1', { messages: [question] }, { turn: 'm-17' }); // the next turn of a chat, once
   * ```
   */
  run(
    id: string,
    input?: Update,
    options?: ExecuteOptions & { readonly throwOnFailure?: true },
  ): Promise<NotFailed<RunResult<Output, AppGate>>>;
  run(id: string, input: Update | undefined, options: ExecuteOptions): Promise<RunResult<Output, AppGate>>;
  async run(id: string, input?: Update, options: ExecuteOptions = {}): Promise<RunResult<Output>> {
    const known = newRunIdOf(id);
    const asked = this.#checked(optionsOf('run', options));
    return throwIfFailed(id, await this.#runs.run(known, input, asked), options);
  }

  /**
   * Records a run as `run` does, without executing it. Use it in a service that answers before the work is done. A process
   * that calls `work` executes it, in a cluster a worker. The id alone resumes a run that was paused, failed or abandoned.
   *
   * @throws DevsError as `run`; in a cluster `THREAD_BUSY` for a new turn while a process has the run's lease.
   *
   * @example
   * ```ts
   * await app.start('mail-7', { mail }, { tenant: 'acme', by: { kind: 'human', id: 'ada' } });
   * const { status, values } = await app.result('mail-7', { wait: true });
   * ```
   */
  async start(id: string, input?: Update, options: StartOptions = {}): Promise<void> {
    return this.#runs.start(newRunIdOf(id), input, this.#checked(optionsOf('start', options)));
  }

  #checked<Options extends { readonly webhook?: string }>(options: Options): Options {
    assertKnownWebhook(options.webhook, this.#webhooks);
    return options;
  }

  /**
   * Records a run before its first input, like LangGraph's `threads.create`. It is `paused` and not due until
   * `run` or `start` gives it an input. The metadata and tags find it in `list`, and nodes have them in
   * their `config`. It can receive signals, and `cancel` ends it.
   *
   * @param options - `ifExists`: behavior for a known id. `'raise'` rejects, `'do_nothing'` returns the run unchanged.
   * @returns The run as `get` returns it.
   * @throws DevsError `THREAD_EXISTS` for a known id; `THREAD_NOT_OURS` for an id with checkpoints but without a run.
   *   TypeError for metadata that is not of scalars. Nothing is recorded then.
   *
   * @example
   * ```ts
   * await app.create('chat-1', { metadata: { tenant: 'acme', user: 'ada' }, tags: ['support'] });
   * await app.run('chat-1', { messages: [question] });
   * ```
   */
  async create(id: string, options: CreateOptions = {}): Promise<RunInfo> {
    const { metadata, tags, owner, ifExists = 'raise', ...place } = optionsOf('create', options);
    if (ifExists !== 'raise' && ifExists !== 'do_nothing')
      throw new TypeError(`ifExists must be 'raise' or 'do_nothing', got ${String(ifExists)}.`);
    const given = {
      ...(metadata !== undefined && { metadata }),
      ...(tags !== undefined && { tags }),
      ...(owner && { owner }),
    };
    const isNew = await this.#runs.create(newRunIdOf(id), given, place);
    if (!isNew && ifExists === 'raise') throw threadExists(id);
    return (await this.get(id)) ?? runNotFound(id);
  }

  /**
   * Returns the status of a run; with `wait`, after it has ended or `signal` is aborted.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   */
  async result(
    id: string,
    options: { readonly wait?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<RunDetails<Output, AppGate>> {
    const { wait = false, signal } = optionsOf('result', options);
    const waits: Waits<Output> = ({ status }) => (hasEnded(status) ? 'done' : null);
    const details = wait
      ? followRunInfo(id, await this.#runs.follow(runIdOf(id), 'told'), { signal, waits })
      : this.#runs.read(runIdOf(id), (file) => readDetails(id, file));
    return (await details) as RunDetails<Output, AppGate>; // the run's own graph has asked its gates
  }

  /**
   * Returns the turns of a run, oldest first, with those that are queued behind them. A queued turn that was cancelled before it
   * began is `cancelled`.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   *
   * @example
   * ```ts
   * const waiting = (await app.turns('chat-1')).filter(({ status }) => status === 'queued');
   * ```
   */
  async turns(id: string): Promise<readonly TurnInfo[]> {
    return this.#runs.read(runIdOf(id), (file) => file.turns(id));
  }

  /**
   * Executes every run of the app that can continue without a person, one after the other: its timer is due, its signal
   * arrived, its process died, or it was recorded ten seconds ago and has not been executed since. Several processes can
   * call this at once. To execute runs for as long as your process lives, call `work`.
   *
   * @returns The runs it executed, and the due runs it could not execute (for example runs of a changed graph).
   * @throws RangeError for a `limit` below 1 or an invalid `now`; DevsError `RUN_ELSEWHERE` in a cluster, where workers
   *   do this.
   *
   * @example
   * ```ts
   * for (const { id, status } of (await app.runDue({ limit: 20 })).driven) log(id, status);
   * ```
   */
  async runDue(options: RunDueOptions = {}): Promise<DueRuns<RunResult<Output>>> {
    return this.#runs.oneFile('runDue').runDue(optionsOf('runDue', options));
  }

  /**
   * Executes the app's runs until `signal` is aborted and those in hand have stopped. Takes due runs, and new runs and
   * decided runs of any process as they come. Several processes can call this. Leaves failed and paused runs alone.
   *
   * @example `await app.work({ concurrency: 20, signal: stopping.signal });`
   * @throws RangeError for a `concurrency` below 1; DevsError `STATE_…` if the file cannot be read or was replaced;
   *   `RUN_ELSEWHERE` in a cluster, where `devs worker` does this.
   */
  async work(options: WorkOptions<RunResult<Output>> = {}): Promise<void> {
    const file = this.#runs.oneFile('work');
    const asked = optionsOf('work', options);
    const end = new AbortController();
    const tended = this.tend(end);
    try {
      await file.work(asked);
    } finally {
      end.abort();
      await tended;
    }
  }

  /**
   * Executes the run as `run` does and yields its events. With `null` as input it only reads, in any process, until the
   * run ends or `signal` is aborted. Every event is stored before it is yielded, so a reader can continue with `after`
   * at any time, except the text of a model. Leaving the loop pauses the run at the next safe point.
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
    options: StreamOptions<Mode> & ExecuteOptions = {},
  ): AsyncGenerator<StreamEvent<State, Update, Mode>, void> {
    const events = this.#runs.stream(newRunIdOf(id), input, this.#checked(optionsOf('stream', options)));
    // The graph's own types are those of what it streams.
    return events as AsyncGenerator<StreamEvent<State, Update, Mode>, void>;
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
    return followRun(runIdOf(id), optionsOf('follow', options), () => this.#runs.follow(id, 'recorded'));
  }

  /**
   * Sends a signal to a run. The signal is stored until a node receives it with `waitFor(name)`, oldest first. Does not
   * execute the run and never decides a gate. The same `signalId` is the same signal.
   *
   * With `start`, a missing run is started in the same transaction. An existing run only receives the signal.
   *
   * @param payload - Plain JSON, at most `limits.signalBytes`.
   * @throws DevsError `THREAD_NOT_FOUND`; `SIGNAL_NOT_TAKEN` if the run has ended or the id belongs to another signal;
   *   `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`. The run is unchanged then.
   *
   * @example
   * ```ts
   * await app.signal('order-7', 'payment', { amount: 120 }, { by: { kind: 'policy', id: 'bank' }, signalId: event.id });
   * await app.signal('chat-ada', 'message', text, { by, signalId: update.id, start: { input: { user: 'ada' } } });
   * ```
   */
  async signal(
    id: string,
    name: string,
    payload: unknown,
    options: SignalOptions & { readonly start?: SignalStart<Update> },
  ): Promise<SignalReceipt> {
    const { start, ...sent } = optionsOf('signal', options);
    if (start !== undefined)
      return this.#runs.signalOrStart(newRunIdOf(id), { name, payload, ...sent }, this.#checked(start));
    return this.#runs.notify({ run: runIdOf(id) }, messageNotice(id, name, payload, sent));
  }

  /**
   * Records a decision on a gate. Resume the run with `run`, in any process. At a gate with several approvers, an
   * approval is a vote: the session stays `awaiting_approval` and has its `votes`.
   *
   * @throws DevsError `GATE_STALE` if the content changed, `GATE_ALREADY_DECIDED` with the recorded decision,
   *   `AGENT_MAY_NOT_DECIDE`, `MAY_NOT_APPROVE`, `ALREADY_VOTED`, `INVALID_ANSWER`, `FEEDBACK_REQUIRED`,
   *   `QUOTE_NOT_SHOWN` for a comment. The gate is unchanged then.
   * @throws TypeError if `gate` is missing, as `gates[0]` of a run that has ended.
   */
  async decide<Asked extends Pick<Gate, 'sessionId' | 'artifactHash'>>(
    gate: Asked,
    answer: GateAnswer<Asked>,
  ): Promise<HitlSession> {
    const sent = sentAnswer(gate, answer);
    return this.#runs.notify({ gate: gate.sessionId }, decisionNotice(gate, sent));
  }

  /**
   * Asks the process that runs it to stop at the next safe point, after calls in flight. With `abort` it aborts them, as
   * `signal` of `run` does. Child runs stop too. The run is `paused` and not due: resume it with `run`.
   *
   * @returns `isAccepted: false` for a run that has ended; `status` is its end.
   * @throws DevsError `THREAD_NOT_FOUND`; `AGENT_MAY_NOT_DECIDE` for an agent as `by`.
   *
   * @example
   * ```ts
   * await app.pause('post-42', { abort: true });
   * await app.run('post-42'); // makes the aborted calls again
   * ```
   */
  async pause(id: string, options: PauseOptions = {}): Promise<StopReceipt> {
    return this.#runs.notify({ run: runIdOf(id) }, pauseNotice(id, optionsOf('pause', options)));
  }

  /**
   * Ends the run or its current turn, and its child runs. Aborts calls in flight, in any process. A cancelled turn cannot
   * resume; a new turn can start.
   *
   * @returns `isAccepted: false` for a run or a turn that has ended; `status` is that of the run.
   * @throws DevsError `THREAD_NOT_FOUND`; `AGENT_MAY_NOT_DECIDE` for an agent as `by`.
   */
  async cancel(id: string, options: CancelOptions = {}): Promise<StopReceipt> {
    return this.#runs.notify({ run: runIdOf(id) }, cancelNotice(id, optionsOf('cancel', options)));
  }

  /**
   * Returns all values of the graph at the latest checkpoint, private channels included; `null` before the first
   * checkpoint.
   */
  async values(id: string): Promise<State | null> {
    return this.#runs.read(runIdOf(id), (file) => file.values(id));
  }

  /** Returns the open gates of a run, oldest first. */
  async gates(id: string): Promise<readonly AppGate[]> {
    return this.#runs.read(runIdOf(id), ({ store }) => gatesOf(id, store)) as Promise<readonly AppGate[]>;
  }

  /**
   * Returns LangGraph's snapshot of a run: values, next nodes, tasks and their interrupts; with `subgraphs`, also of
   * subgraphs.
   *
   * @throws DevsError `THREAD_NOT_FOUND`, `CHECKPOINT_NOT_FOUND`.
   */
  async getState(id: string, options: SnapshotOptions = {}): Promise<RunSnapshot<State>> {
    const asked = optionsOf('getState', options);
    return this.#runs.read(runIdOf(id), ({ engine }) => outsideGraphs(() => readSnapshot(id, asked, engine)));
  }

  /**
   * Returns snapshots of a run's checkpoints, newest first, 100 by default. Pruned checkpoints are gone.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; `CHECKPOINT_NOT_FOUND` if `before` is not a checkpoint of the run.
   *
   * @example
   * ```ts
   * const [last] = await app.getStateHistory('post-42', { limit: 1 });
   * const earlier = await app.getStateHistory('post-42', { before: last.config });
   * ```
   */
  async getStateHistory(id: string, options: HistoryOptions = {}): Promise<readonly RunSnapshot<State>[]> {
    const asked = optionsOf('getStateHistory', options);
    return this.#runs.read(runIdOf(id), ({ engine }) => outsideGraphs(() => readHistory(id, asked, engine)));
  }

  /**
   * Lists the runs, of every graph, newest first, in pages. A run that matches all the time is on exactly one page. With
   * `metadata`, `tags`, `idPrefix` or `tenant`, it lists the runs that match all of them, by an index.
   *
   * @throws RangeError, TypeError for an invalid filter, `limit` or `after`.
   *
   * @example
   * ```ts
   * const { runs, next } = await app.list({ status: ['running', 'waiting'], graph: app.fingerprint, limit: 20 });
   * const ofAcme = await app.list({ metadata: { tenant: 'acme' }, tags: ['support'], idPrefix: 'chat-' });
   * ```
   */
  async list(filter: RunFilter = {}): Promise<RunPage> {
    return this.#runs.list(optionsOf('list', filter));
  }

  /** Returns one run as `list` does, without its values; `null` for an unknown id. See `result` for its values. */
  async get(id: string): Promise<RunInfo | null> {
    return this.#runs.get(runIdOf(id));
  }

  /**
   * Puts members into the metadata that a run is found by, in the place of those of the same names, like LangGraph's
   * `threads.update`. Tags and `owner` stay, and so does the metadata that nodes have.
   *
   * @param patch - Plain JSON by name, at most 64 KiB.
   * @returns The run as `get` returns it.
   * @throws DevsError `THREAD_NOT_FOUND`; TypeError, RangeError for metadata that is not plain JSON, or too large.
   *
   * @example
   * ```ts
   * await app.updateMetadata('chat-1', { title: 'Refund of order 7' });
   * ```
   */
  async updateMetadata(id: string, patch: RunInfo['metadata']): Promise<RunInfo> {
    const known = runIdOf(id);
    assertMetadata(patch);
    return this.#runs.updateMetadata(known, patch);
  }

  /**
   * Lists the open gates of every run, or of the runs that match, oldest first, in pages.
   *
   * @throws RangeError, TypeError for a bad filter or page.
   *
   * @example
   * ```ts
   * const { gates } = await app.openGates({ metadata: { tenant: 'acme' } });
   * ```
   */
  async openGates(filter: GateFilter = {}): Promise<GatePage> {
    return this.#runs.openGates(optionsOf('openGates', filter));
  }

  /**
   * Yields the events about gates of every run, in the order in which they were stored. Then it waits for more, until `signal` is
   * aborted. They are stored with the change that they report. Save the `cursor` of each event after you acted on it, and
   * give the last one as `after` when your process starts again. Later events are then yielded again: every event arrives,
   * and one can arrive twice. Events of a deleted run are gone.
   *
   * @throws RangeError for an `after` that is not a cursor, or is later than every event here, as after a restored backup;
   *   DevsError `STATE_IO` if the runs cannot be reached.
   *
   * @example
   * ```ts
   * for await (const event of app.gateEvents({ after: await loadCursor(), signal })) {
   *   if (event.name === 'GATE_REMINDED') await mail(event.threadId, event.payload, { key: event.cursor });
   *   await saveCursor(event.cursor);
   * }
   * ```
   */
  gateEvents(options: GateEventOptions = {}): AsyncGenerator<GateEvent, void> {
    return readGateEvents(optionsOf('gateEvents', options), this.#runs.gateEvents);
  }

  /**
   * Sends the events of every run to the webhooks of the app, and its spans if `telemetry` is set, until `signal` is aborted. Each is
   * sent at least once, in the order of its run. Several processes can call it. `work` and workers of a cluster do this by themselves. A request that fails is repeated
   * for a day.
   *
   * @throws DevsError `STATE_…` if the runs cannot be reached.
   *
   * @example
   * ```ts
   * await app.sendWebhooks({ wait: false }); // from a scheduled job
   * await app.sendWebhooks({ wait: false, again: true }); // also deliveries that were given up
   * ```
   */
  async sendWebhooks(options: SendOptions = {}): Promise<void> {
    const asked = optionsOf('sendWebhooks', options);
    await Promise.all(this.#senders().map(({ send }) => send(asked)));
  }

  /**
   * Sends every span of a run that has ended with OpenTelemetry, also of one that ended long ago. A span has the same id each time.
   *
   * @returns The number of these spans.
   * @throws DevsError `THREAD_NOT_FOUND`; `CONFIG_INVALID` if the exporter's package is missing. The error of the exporter.
   *
   * @example
   * ```ts
   * await app.exportTrace('post-42');
   * ```
   */
  async exportTrace(id: string): Promise<number> {
    return this.#telemetry.sendRun(runIdOf(id));
  }

  /** One for all webhooks, and one for spans, which are found elsewhere. */
  #senders() {
    const { gateEvents, outboxEvents, webhooks: rows } = this.#runs;
    const sender = (target: OutboxTarget, events: GateEventSource) => ({
      name: target.name,
      send: (how: SendOptions) => sendOutbox([target], how, { events, rows }),
    });
    return [
      ...webhookTargets(this.#webhooks).map((target) => sender(target, gateEvents)),
      ...(this.#exports ? [sender(this.#telemetry.target, outboxEvents)] : []),
    ];
  }

  /** Lists open deliveries of webhooks, oldest first: at most 1,000. `givenUpAt` is the time at which one was given up. */
  async undelivered(): Promise<readonly WebhookDelivery[]> {
    return this.#runs.webhooks.list(UNDELIVERED);
  }

  /**
   * Starts a run at the times of `cron`, in a time zone, or `every` so many milliseconds. The id of a run has the id of the schedule and
   * the time of the firing. So a firing starts one run in any number of processes. `work`, and workers of a cluster, start the
   * runs. Missed firings come once. An equal schedule of the same id stays as it is; another one
   * takes its place.
   *
   * @throws RangeError, TypeError for an id, times or options that cannot be used.
   * @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` for an input other than plain JSON of at most 1 MiB.
   * @throws DevsError `INPUT_NOT_TAKEN` for the schedule of another app.
   *
   * @example
   * ```ts
   * await app.schedule('report', { cron: '0 8 * * 1-5', timeZone: 'Europe/Berlin' }, { topic: 'sales' });
   * await app.schedule('poll', { every: 15 * 60_000, overlap: 'wait' }, { topic: 'inbox' });
   * ```
   */
  async schedule(id: string, options: ScheduleOptions, input: Update): Promise<ScheduleInfo> {
    const asked = this.#checked(optionsOf('schedule', options));
    const { cron, every, timeZone, overlap, thread, until, ...given } = asked;
    const kept = withoutUndefined(given);
    const times = withoutUndefined({ cron, every, timeZone, overlap, thread, until }) as ScheduleTimes;
    return putSchedule(id, { times, options: kept, input }, this.#scheduling());
  }

  /** Removes a schedule; runs that it started stay. Returns false for an unknown id. */
  async unschedule(id: string): Promise<boolean> {
    if (typeof id !== 'string') throw new TypeError(`id: expected a string, got ${String(id)}`);
    return this.#runs.schedules.remove(id);
  }

  /** Lists the schedules of the app by their ids: at most 1,000. */
  async schedules(): Promise<readonly ScheduleInfo[]> {
    return (await this.#runs.schedules.list(SCHEDULES, this.queue.graph)).map(scheduleInfo);
  }

  #scheduling(): SchedulerParts {
    return {
      ...{ rows: this.#runs.schedules, graph: this.queue.graph },
      start: (id, input, options) => this.start(id, input as Update, options),
      get: (id) => this.get(id),
    };
  }

  /** For a worker: sends webhooks and spans, and fires schedules, until `signal` is aborted. Does not reject. */
  async tend({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const parts = this.#scheduling();
    const fire = keepGoing('schedules', () => fireUntilStopped(signal, parts), signal);
    const sent = this.#senders().map(({ name, send }) => keepGoing(name, () => send({ signal }), signal));
    const numbers = () => this.#runs.numbers();
    const measured = this.#exports
      ? keepGoing('metrics', () => this.#telemetry.sendMetricsUntil(signal, numbers), signal)
      : null;
    await Promise.all([fire, measured, ...sent]);
  }

  /**
   * Writes values into a run's state as if node `asNode` had returned them, like LangGraph's `updateState`. Open gates
   * are withdrawn and asked again. Emits `STATE_UPDATED`. Executes nothing; a worker of a cluster
   * continues the run. A completed run stays completed unless a node follows: its next turn starts from them.
   * The values of an entrypoint are its return value.
   *
   * @returns The config of the new checkpoint.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can update a run; `UPDATE_REFUSED`
   *   with a `reason` in its context; `THREAD_BUSY`, `THREAD_NOT_FOUND`, `GRAPH_CHANGED`, `VALUE_NOT_STORABLE`. The run
   *   is unchanged then.
   * @throws TypeError for an unknown channel or node.
   */
  async updateState(
    id: string,
    values: Partial<Update> | State | null,
    update: StateUpdate,
  ): Promise<{ readonly configurable?: Readonly<Record<string, unknown>> }> {
    const asked = optionsOf('updateState', update);
    return this.#runs.claim(runIdOf(id), ({ engine, arrived }) =>
      arrived(outsideGraphs(() => updateRun(id, values, asked, engine))),
    );
  }

  /**
   * Lists before a deploy the runs that continue on this graph, and those that it refuses with `GRAPH_CHANGED`, with the reason. Only
   * reads. Runs that have ended are left out.
   *
   * @throws DevsError `STATE_…` if the runs cannot be read.
   *
   * @example
   * ```ts
   * const { refused } = await app.checkUpgrade();
   * for (const { id, why } of refused) console.error(id, why);
   * ```
   */
  async checkUpgrade(): Promise<UpgradeCheck> {
    const looks: UpgradeLook[] = [];
    const others: string[] = [];
    let after: string | undefined;
    do {
      const filter = { status: UNENDED, limit: UPGRADES_A_PAGE, ...(after !== undefined && { after }) };
      const { runs, next } = await this.#runs.list(filter);
      for (const { id } of runs) {
        const look = await this.#checkRun(id);
        if (look === null) others.push(id);
        else looks.push(look);
      }
      after = next ?? undefined;
    } while (after !== undefined);
    const { others: unnamed, ...check } = upgradeCheckOf(looks.toReversed());
    return { ...check, others: [...others.toReversed(), ...unnamed] };
  }

  /** `null` for a run of a graph with another name, and one that is gone by now. */
  async #checkRun(id: string): Promise<UpgradeLook | null> {
    try {
      return await this.#runs.read(id, ({ engine }) => outsideGraphs(() => checkRun(id, engine)));
    } catch (error) {
      if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
      throw error;
    }
  }

  /**
   * Lets a run continue on this graph after `GRAPH_CHANGED`. Declare every name that is gone, and every gate, here or in
   * `graphChanges`. Executes nothing. Accepting the run's own graph changes nothing. In a cluster also for a run of a graph with another name: workers with
   * this graph then execute it.
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
    const asked = optionsOf('acceptGraph', acceptance);
    const accept = ({ engine, arrived }: FileApp<Graph, State, Update, Output>) =>
      arrived(outsideGraphs(() => acceptGraph(id, asked, engine)));
    return this.#runs.claim(runIdOf(id), accept, { takesOver: true });
  }

  /**
   * Brings back a run that became a dead letter because its processes kept dying. It then resumes from its position
   * with new counters. Executes nothing; a worker of a cluster continues it. Emits `RUN_REVIVED`.
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
  async revive(id: string, request: { readonly by: Principal }): Promise<boolean> {
    const { by } = optionsOf('revive', request);
    return this.#runs.claim(runIdOf(id), (file) => file.revive(id, by), { goesOn: true });
  }

  /**
   * Deletes old checkpoints of a run. Keeps the first, the newest, and those that they and open gates need. Holds the
   * run's lease meanwhile.
   *
   * @throws DevsError `THREAD_BUSY` while a process runs it, `THREAD_NOT_FOUND`; RangeError for a bad policy.
   */
  async prune(id: string, retention: Retention): Promise<PruneResult> {
    const asked = optionsOf('prune', retention);
    return this.#runs.claim(runIdOf(id), ({ engine }) =>
      holdRun(id, (lease) => engine.saver.prune(id, { ...asked, lease }), engine),
    );
  }

  /**
   * Creates the run `as` from a checkpoint of another run, which is only read. Recorded work before the checkpoint is
   * in the state; later steps are made again. Emits `RUN_FORKED` in the new run. Executes nothing; in a cluster the new
   * run has its own file and a worker executes it.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can fork a run; `THREAD_NOT_FOUND`,
   *   `CHECKPOINT_NOT_FOUND`, `GRAPH_CHANGED`, `THREAD_EXISTS`, `THREAD_NOT_OURS`; `WORKSPACE_BUSY` for a run with a
   *   folder. The state file is unchanged then.
   *
   * @example
   * ```ts
   * await app.fork('post-42', { as: 'post-42b', checkpointId, by: { kind: 'human', id: 'ada' } });
   * await app.run('post-42b');
   * ```
   */
  async fork(id: string, fork: ForkOptions, place: QueueOptions = {}): Promise<ForkResult> {
    return this.#runs.fork(runIdOf(id), optionsOf('fork', fork), optionsOf('place', place, 'app.fork()'));
  }

  /**
   * Imports a thread of plain LangGraph as the run of the same id. Any checkpointer of LangGraph can have it. The newest
   * checkpoint and its pending writes come, with those of subgraphs. `history` brings all checkpoints. Open interrupts become gates
   * with the same interrupt ids. Only reads the checkpointer, without executing a node. The import is one transaction. Emits
   * `RUN_IMPORTED`.
   *
   * A second import of an unchanged thread leaves the run as it is. Store items do not come.
   *
   * @param options - `dryRun`: checks the thread without a write.
   * @throws DevsError `TRANSFER_REFUSED` with a `reason` in its context. The graph cannot take the thread, or one of the two has gone
   *   on since an earlier import.
   * @throws DevsError `THREAD_NOT_FOUND`; `THREAD_EXISTS`, `THREAD_NOT_OURS`; `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can import a thread.
   *
   * @example
   * ```ts
   * await app.importThread('post-42', { saver, by: { kind: 'human', id: 'ada' } });
   * const [gate] = await app.gates('post-42');
   * ```
   */
  async importThread(id: string, options: ImportOptions): Promise<ImportedThread> {
    return this.#runs.importThread(newRunIdOf(id), optionsOf('importThread', options));
  }

  /**
   * Copies a run into another checkpointer of LangGraph. `history` copies all checkpoints. Plain LangGraph continues there, at the same
   * interrupt ids. The run stays here as it is: cancel it if it must not be executed twice.
   *
   * @throws DevsError `TRANSFER_REFUSED` with a `reason` in its context. The run waits for a gate of the app, a timer, a signal or a
   *   child run, or the thread there has gone on.
   * @throws DevsError `THREAD_BUSY`, `THREAD_NOT_FOUND`.
   *
   * @example
   * ```ts
   * const { interrupts } = await app.exportThread('post-42', { saver });
   * ```
   */
  async exportThread(id: string, options: ExportOptions): Promise<ExportedThread> {
    const given = optionsOf('exportThread', options);
    return this.#runs.read(runIdOf(id), ({ engine }) => outsideGraphs(() => exportThread(id, given, engine)));
  }

  /**
   * Deletes a run that has ended, in one transaction, and overwrites its bytes in the file and its log. In one state file,
   * lines of the decision log stay, because they are a chain; in a cluster the run's whole file is deleted. For a run that
   * was deleted before, it empties the log again and returns `runs: 0`.
   *
   * @param options - `by`, and `waitMs`: how long to wait for processes that read the file.
   * @throws DevsError `STATE_BUSY` if another process still reads the file after `waitMs`: the run is deleted, its bytes are
   *   still in the log. Call `delete` again.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can delete a run; `REMOVE_REFUSED`
   *   for a run that has not ended or has a folder; `THREAD_BUSY`, `THREAD_NOT_FOUND`. The run is unchanged then.
   */
  async delete(id: string, options: DeleteOptions): Promise<DeleteResult> {
    return this.#runs.delete(runIdOf(id), optionsOf('delete', options));
  }

  /**
   * Deletes runs of every graph in the file that ended before a date, oldest end first, a few per transaction. After a
   * crash, the next call continues. Skips runs in use and runs with a folder.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can delete runs;
   *   `RUN_ELSEWHERE` in a cluster; `STATE_BUSY` as `delete`, when all is deleted; RangeError.
   *
   * @example
   * ```ts
   * const aMonthAgo = new Date(Date.now() - 30 * 86_400_000);
   * await app.deleteOlderThan({ endedBefore: aMonthAgo, limit: 1000, by: { kind: 'human', id: 'ops' } });
   * ```
   */
  async deleteOlderThan(expiry: DeleteFilter): Promise<DeleteResult> {
    const { engine, arrived } = this.#runs.oneFile('deleteOlderThan');
    return arrived(deleteExpired(optionsOf('deleteOlderThan', expiry), engine));
  }

  /**
   * Makes the state file smaller: deletes unused values, gives free pages back to the disk, and empties the log. Overwrites
   * bytes that a release without this method deleted, which `delete` cannot do. Stops after `maxMs`; the next call continues. A
   * file is rewritten in one transaction, and other processes wait meanwhile; one above 64 MiB is made smaller step by step
   * after that.
   *
   * @throws DevsError `STATE_BUSY` if other processes use the file for longer than `waitMs`; `STATE_DISK_FULL`;
   *   `RUN_ELSEWHERE` in a cluster. The runs are unchanged then. RangeError.
   *
   * @example
   * ```ts
   * const { done, needsMs } = await app.compact({ maxMs: 2000 });
   * if (!done) await app.compact({ maxMs: Infinity }); // at night
   * ```
   */
  async compact(options: CompactOptions = {}): Promise<CompactResult> {
    const { store, arrived } = this.#runs.oneFile('compact');
    return arrived(compactFile(store, optionsOf('compact', options)));
  }

  /**
   * Closes the state file if this app opened it, before it returns. In a cluster it closes `runs`, and with it every app
   * that uses it: wait for this.
   */
  close(): PromiseLike<void> {
    void this.#telemetry.close();
    return this.#runs.close();
  }
}

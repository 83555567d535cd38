import { isDevsError } from '../../errors/DevsError.ts';
import { EventBus } from '../../events/events.ts';
import { withOwnSignal } from '../../events/onAbort.ts';
import { extractRun } from '../../state/moving/movedRun.ts';
import { awaitsInput, hasEnded } from '../../state/threads/threadRecords.ts';
import { readStateAt } from '../drive/compiledGraph.ts';
import type { NewRunLabels } from '../drive/givenLabels.ts';
import { nullIfBusy } from '../drive/lease.ts';
import {
  isOver,
  type RunDetails,
  type RunResult,
  throwIfAborted,
  throwIfFailed,
} from '../drive/RunResult.ts';
import { isIdAlone } from '../drive/runInput.ts';
import type { SignalReceipt } from '../drive/signals.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import type { AppFactory } from '../file/AppFactory.ts';
import type { FileApp } from '../file/FileApp.ts';
import type {
  ExecuteOptions,
  RunOptions,
  RunStartOptions,
  Said,
  SignalStart,
  StartOptions,
} from '../file/RunOptions.ts';
import { isInQueue } from '../graph/graphShape.ts';
import { assertDeletable, type DeleteOptions, type DeleteResult, deleteRun } from '../runs/deleteRuns.ts';
import { type FollowedFile, followRunInfo } from '../runs/followRun.ts';
import { type ForkOptions, type ForkResult, forkRun, threadExists } from '../runs/forkRun.ts';
import { messageNotice, turnNotice } from '../runs/notices.ts';
import type { LeasedRun, QueueOptions, RunDriver, RunQueue, RunRelease, Runs } from '../runs/Runs.ts';
import { releaseOf, runIndexOf } from '../runs/standing.ts';
import { startedRunBytes } from '../start/startedRun.ts';
import { notKept, type StreamEvent } from '../stream/StreamEvent.ts';
import { HeardTokens, SentTokens } from '../stream/sentTokens.ts';
import {
  type ReadOptions,
  type StreamOptions,
  type StreamParts,
  streamedSoFar,
} from '../stream/streamRun.ts';
import {
  type ImportedThread,
  type ImportOptions,
  importThread,
  type KnownThread,
  knownImport,
} from '../transfer/importThread.ts';
import { LeasedApp } from './LeasedApp.ts';
import { newRunFile } from './newRunFile.ts';
import { RunAccess } from './RunAccess.ts';

/** Before a run that somebody else has is tried again where nothing new is told of it, ms. */
const BUSY_MS = 1000;

/** Runs of an app that have a file each, for example in a cluster. `durable` loads it only with `runs`. */
export class RemoteRuns<Graph, State, Update, Output> extends RunAccess<Graph, State, Update, Output> {
  readonly #plan: AppFactory<Graph, State, Update, Output>;
  readonly #runs: Runs;
  readonly #queue: RunQueue;
  /** Over a file that stays empty: it checks the inputs of new runs. */
  #blank: FileApp<Graph, State, Update, Output> | null = null;

  constructor(plan: AppFactory<Graph, State, Update, Output>, runs: Runs, queue: RunQueue) {
    super(plan, { runs, graph: queue.graph, standing: (id, file) => standingOf(id, file, queue) });
    this.#plan = plan;
    this.#runs = runs;
    this.#queue = queue;
  }

  async start(id: string, input: Update | undefined, options: StartOptions): Promise<void> {
    const { given, place } = placedStart(options);
    if (isIdAlone(input, given)) return this.#goOn(id);
    if (input !== undefined && (await this.#begin(id, input, given, place))) return;
    const isBehind = given.multitaskStrategy !== undefined && given.multitaskStrategy !== 'reject';
    const way = await this.read(id, async (file) => {
      if (awaitsInput(file.store.threads.require(id))) return 'claim';
      if (isBehind) return 'tell';
      if (given.turn !== undefined && file.store.inputs.find(id, given.turn) === null) return 'claim';
      await file.start(id, input, given);
      return 'done';
    });
    if (way === 'claim') await this.claim(id, (file) => file.start(id, input, given));
    if (way === 'tell')
      await this.notify(
        { run: id },
        turnNotice((file) => file.turnBehind(id, input, given)),
      );
  }

  /** The file of a new run has the signal. */
  async signalOrStart(id: string, said: Said, start: SignalStart<Update>): Promise<SignalReceipt> {
    const { input, ...options } = start;
    const { given, place } = placedStart(options);
    if (input === undefined) throw new TypeError('start.input: a new run needs an input.');
    let sent: SignalReceipt | undefined;
    const queued = { ...place, queue: this.#queue, events: new EventBus() };
    const record = async (file: FileApp<Graph, State, Update, Output>): Promise<boolean> => {
      sent = await file.signalOrStart(id, said, { input, ...given });
      return true;
    };
    const isStarted = await this.create(id, queued, record).catch((error) => this.#unlessKnown(id, error));
    if (isStarted && sent !== undefined) return sent;
    const { name, payload, by, signalId } = said;
    return this.notify({ run: id }, messageNotice(id, name, payload, { by, signalId }));
  }

  /** Records a run before its first input; false for a known id. */
  createRun(id: string, given: NewRunLabels, place: QueueOptions): Promise<boolean> {
    const queued = { ...place, queue: this.#queue, events: new EventBus(), isDue: false };
    return this.create(id, queued, (file) => file.create(id, given));
  }

  async #begin(id: string, input: Update, given: RunStartOptions, place: QueueOptions): Promise<boolean> {
    if (this.#runs.start !== undefined && given.turn === undefined) {
      this.#blank ??= this.#plan.open({ db: newRunFile(), events: new EventBus() });
      const started = await this.#blank
        .startedRun(id, input, given)
        .catch((error) => this.#unlessKnown(id, error));
      if (started === false) return false;
      const index = { status: 'created', reason: null, title: null, view: null, gates: [] } as const;
      const start = startedRunBytes(started);
      return this.#runs.start({
        ...place,
        id,
        queue: this.#queue,
        index: { ...index, ...started.labels },
        start,
      });
    }
    const queued = { ...place, queue: this.#queue, events: new EventBus() };
    return this.create(id, queued, (file) => {
      const isStarted = file.start(id, input, given).then(() => true);
      // What is wrong with a new run need not be with one that is known: that is looked at.
      return isStarted.catch((error) => this.#unlessKnown(id, error));
    });
  }

  async #unlessKnown(id: string, error: unknown): Promise<false> {
    await this.readRecord(id, () => undefined).catch(() => Promise.reject(error));
    return false;
  }

  /** Whoever holds it drives it already. */
  async #goOn(id: string): Promise<void> {
    const thread = await this.readRecord(id, ({ threads }) => threads.require(id));
    if (isOver(thread.status) || awaitsInput(thread)) return;
    await nullIfBusy(() => this.claim(id, async () => undefined, { goesOn: true }));
  }

  async run(
    id: string,
    input: Update | undefined,
    { wait = false, ...options }: ExecuteOptions,
  ): Promise<RunResult<Output>> {
    if (!isIdAlone(input, options)) await this.start(id, input, options);
    let result = await this.#runHere(id, input, options);
    const stops = [options.drain, options.signal, options.abort];
    for (let isBusy = false; wait && result.status === 'waiting'; ) {
      const canGoOn = await withOwnSignal(stops, (signal) => this.#canGoOn(id, isBusy, signal));
      if (!canGoOn) return throwIfAborted(result, { ...options, wait });
      const driven = await nullIfBusy(() => this.#runHere(id, input, options));
      isBusy = (driven ?? null) === null;
      result = driven ?? result;
    }
    return result;
  }

  #runHere(id: string, input: Update | undefined, options: RunOptions) {
    return this.execute(id, (held) =>
      held.drive((told) => held.file.run(id, input, { ...options, ...told })),
    );
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
    return waits(await followRunInfo(id, await this.follow(id, 'told'), { signal, waits })) === 'done';
  }

  /** Executes a run here; `tell` gets each event after it has arrived in storage, except the text of a model. */
  async streamHere(
    id: string,
    input: Update | undefined,
    options: StreamOptions & ExecuteOptions,
    tell: (event: StreamEvent) => void,
  ): Promise<void> {
    if (!isIdAlone(input, options)) await this.start(id, input, options);
    const ends: RunResult<Output>[] = [];
    await this.execute(id, streamingDrive([id, input, options], { tell, ended: (end) => ends.push(end) }));
    for (const end of ends.slice(-1)) throwIfFailed(id, end, options);
  }

  /** Events of a run that others execute. */
  streamThere(id: string, options: StreamOptions & ExecuteOptions): AsyncGenerator<StreamEvent, void> {
    const runs = this.#runs;
    const hear = runs.hear === undefined ? null : runs.hear.bind(runs, id);
    return streamThere(id, options, { follow: () => this.follow(id, 'recorded'), hear });
  }

  async fork(id: string, fork: ForkOptions, place: QueueOptions): Promise<ForkResult> {
    const { as } = fork;
    return this.read(id, async (file, { isCopy }) => {
      const forked = await file.arrived(outsideGraphs(() => forkRun(id, fork, file.engine)));
      if (!isCopy) return forked;
      const { gates, ...stands } = standingOf(as, file, this.#queue);
      const index = { ...stands, gates: gates.filter(({ threadId }) => threadId === as) };
      const copy = extractRun(file.store.db, as);
      if (!(await this.#runs.create({ ...place, id: as, queue: this.#queue, file: copy, index })))
        throw threadExists(as);
      return forked;
    });
  }

  /** Workers leave the run alone until a decision or a resume. */
  async importThread(id: string, options: ImportOptions): Promise<ImportedThread> {
    const { tenant, priority } = options;
    const place = { ...(tenant !== undefined && { tenant }), ...(priority !== undefined && { priority }) };
    const queued = { ...place, queue: this.#queue, events: new EventBus(), isDue: false };
    const known: KnownThread = (taken) =>
      this.read(id, ({ engine }) => knownImport(taken, engine)).catch((error: unknown) => {
        if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
        throw error;
      });
    let imported: ImportedThread | undefined;
    const isNew = await this.create(id, queued, async ({ engine }) => {
      imported = await importThread(id, options, engine, known);
      return imported.result === 'imported';
    });
    if (imported === undefined || (imported.result === 'imported' && !isNew)) throw threadExists(id);
    return imported;
  }

  async delete(id: string, { by, ...how }: DeleteOptions): Promise<DeleteResult> {
    const bytes = await this.remove(id, {
      assert: ({ store }) => assertDeletable(id, by, store),
      here: async ({ engine, arrived }) => (await arrived(deleteRun(id, { by, ...how }, engine))).bytes,
    });
    return { runs: 1, bytes };
  }

  /** Executes a run that a worker holds. */
  async drive(held: LeasedRun, { drain, signal }: Parameters<RunDriver['drive']>[1]): Promise<RunRelease> {
    const opened = new LeasedApp(held, this.#plan);
    const { file } = opened;
    const silent = sendTokens(held, file);
    await opened.drive((told) => file.drive(held.id, { drain, signal, ...told })).finally(silent);
    return standingOf(held.id, file, this.#queue);
  }
}

function placedStart({ tenant, priority, ...given }: StartOptions) {
  const place = { ...(tenant !== undefined && { tenant }), ...(priority !== undefined && { priority }) };
  return { given, place };
}

/** Where a run stands; a run of this shape is this graph's from then on. */
function standingOf<Graph, State, Update, Output>(
  id: string,
  { store }: FileApp<Graph, State, Update, Output>,
  queue: RunQueue,
): RunRelease {
  const ours = isInQueue(queue, id, store) && { queue };
  return { ...releaseOf(id, store), view: runIndexOf(id, store), ...ours };
}

type Streaming<Update> = readonly [
  id: string,
  input: Update | undefined,
  options: StreamOptions & RunOptions,
];

interface Listener<Output> {
  readonly tell: (event: StreamEvent) => void;
  readonly ended: (result: RunResult<Output>) => void;
}

/** Drives a held run as often as it is called, and tells what it streams meanwhile: each event once. */
function streamingDrive<Graph, State, Update, Output>(
  [id, input, options]: Streaming<Update>,
  { tell, ended }: Listener<Output>,
): (held: LeasedApp<Graph, State, Update, Output>) => Promise<void> {
  let { after } = options;
  return (held) => {
    after ??= held.file.engine.streams.store.lastSeq(id);
    return held.drive(async (told) => {
      const how = { ...options, ...told, ...(after !== undefined && { after }) };
      for await (const event of held.file.stream(id, input, how, ended)) {
        if ('seq' in event) after = event.seq;
        tell(event);
      }
    });
  };
}

function* unlessAborted<Event>(events: readonly Event[], isAborted: () => boolean): Generator<Event, void> {
  for (const event of events) {
    if (isAborted()) return;
    yield event;
  }
}

/** Sends the words of a held run's models to the processes that read the run, until the returned function is called. */
function sendTokens<Graph, State, Update, Output>(
  { id, epoch, words }: LeasedRun,
  { engine: { streams } }: FileApp<Graph, State, Update, Output>,
): () => void {
  if (words === undefined) return () => undefined;
  return streams.tellTokens(id, new SentTokens(words, { epoch, lastSeq: () => streams.store.lastSeq(id) }));
}

/** Where a run is that others drive. */
interface RunElsewhere<File> {
  readonly follow: () => Promise<FollowedFile<File>>;
  /** The words of its models; `null` where they cannot get through. */
  readonly hear: ((hear: (words: Uint8Array) => void) => Promise<() => void>) | null;
}

/** What a run has streamed that others drive, as it arrives, until the run has ended or `signal` is aborted. */
async function* streamThere<Graph, State, Update, Output>(
  id: string,
  { signal, ...options }: ReadOptions & { readonly signal?: AbortSignal | undefined },
  { follow, hear }: RunElsewhere<FileApp<Graph, State, Update, Output>>,
): AsyncGenerator<StreamEvent, void> {
  const followed = await follow();
  let deafen = (): void => {};
  try {
    const heard = await listening(options, hear, () => followed.wake());
    deafen = heard.deafen;
    yield* followThere(id, { signal, ...options }, followed, heard.tokens);
  } finally {
    deafen();
    followed.close();
  }
}

async function* followThere<Graph, State, Update, Output>(
  id: string,
  { signal, ...options }: ReadOptions & { readonly signal?: AbortSignal | undefined },
  followed: FollowedFile<FileApp<Graph, State, Update, Output>>,
  tokens: HeardTokens,
): AsyncGenerator<StreamEvent, void> {
  let { after } = options;
  const isAborted = (): boolean => signal?.aborted === true;
  const read = async ({ graph, engine }: FileApp<Graph, State, Update, Output>) => {
    const asked = { ...options, ...(after !== undefined && { after }) };
    const stateAt: StreamParts['stateAt'] = (...at) => readStateAt(graph, ...at);
    return streamedSoFar(id, asked, { ...engine, stateAt }, tokens);
  };
  while (!isAborted()) {
    const seen = followed.isNews() ? await followed.look(read) : null;
    yield* unlessAborted(seen?.events ?? [], isAborted);
    after = seen?.last ?? after;
    if (seen?.isMore === true) {
      followed.forget();
      continue;
    }
    yield* unlessAborted(tokens.upTo(after ?? 0), isAborted);
    if (seen?.isOver === true) return assertRecorded(id, seen.last, options);
    await followed.next(signal);
  }
}

/** A run that has ended without an event was not recorded. */
function assertRecorded(id: string, last: number, { overTurns = false, turn }: ReadOptions): void {
  if (last === 0 && !overTurns && turn === undefined) throw notKept(id, 'not recorded', {});
}

/** Begins to hear the words of models, where they are asked for and get through. */
async function listening(
  { streamMode = [], subgraphs = false, after: from = 0 }: ReadOptions,
  hear: RunElsewhere<unknown>['hear'],
  wake: () => void,
): Promise<{ readonly tokens: HeardTokens; readonly deafen: () => void }> {
  const tokens = new HeardTokens({ subgraphs, from }, wake);
  const isAsked = hear !== null && [streamMode].flat().includes('messages');
  const deafen = isAsked ? await hear((words) => tokens.hear(words)) : (): void => {};
  return { tokens, deafen };
}

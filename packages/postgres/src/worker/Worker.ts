import { setTimeout as sleep } from 'node:timers/promises';
import { isDevsError } from '@devs/core';
import type { RunDriver } from '@devs/core/internal';
import type { ClusterView } from '../cluster/ClusterView.ts';
import { metricsText, type WorkerMeters } from '../cluster/metrics.ts';
import type { HeldPostgresRun } from '../held/HeldPostgresRun.ts';
import type { BossJobs, FetchedJob } from '../jobs/BossJobs.ts';
import { queueName } from '../jobs/Jobs.ts';
import type { EndedRuns } from '../rows/EndedRuns.ts';
import type { GraphQueues } from '../rows/GraphQueues.ts';
import type { Leases } from '../rows/Leases.ts';
import type { Claimer, NotClaimed } from '../rows/RunRows.ts';
import { isServerFault } from '../server/faults.ts';
import { jobsChannel } from '../server/Owner.ts';
import type { ServerClock } from '../server/ServerClock.ts';
import type { SessionOwner } from '../server/SessionOwner.ts';
import { Dispatcher, type TakenHow } from './Dispatcher.ts';
import { Reaper } from './Reaper.ts';
import { type HealthServer, serveHealth } from './serveHealth.ts';

/** What a worker needs besides. */
export interface DrivingParts {
  readonly jobs: BossJobs;
  readonly leases: Leases;
  readonly ended: EndedRuns;
  /** Retention of ended runs, ms; `null` without one. */
  readonly retentionMs: number | null;
  readonly graphs: GraphQueues;
  readonly view: ClusterView;
  /** Told of what is sent and of retries. */
  readonly meters: WorkerMeters;
  readonly clock: Pick<ServerClock, 'skewSeconds'>;
  /** Asks until there is an answer. */
  readonly insist: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** A worker that starts, and waits for a server that cannot be reached: all others are told at once. */
export interface WaitingWorker {
  readonly onAway: (why: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** Runs that a worker executes: `PostgresRuns`. */
export interface DrivenRuns {
  readonly schema: string;
  readonly owner: SessionOwner;
  driving(worker: WaitingWorker): Promise<DrivingParts>;
  take(id: string, how: Omit<Claimer, 'owner'>): Promise<HeldPostgresRun | NotClaimed>;
}

export interface WorkerOptions {
  /** Apps whose runs it executes. */
  readonly drivers: readonly RunDriver[];
  /** Runs at the same time. @defaultValue 10 */
  readonly slots?: number;
  /** Port of a server for `/livez`, `/readyz` and `/metrics`; 0 for any port. @defaultValue no server */
  readonly healthPort?: number | undefined;
  /** Receives events of the worker. @defaultValue no callback */
  readonly onEvent?: (event: WorkerEvent) => void;
  /** Name of the deployed program, such as a commit: a label of its metrics. @defaultValue '' */
  readonly build?: string | undefined;
  /** Abort it to stop waiting for PostgreSQL at the start. */
  readonly signal?: AbortSignal | undefined;
}

/** An event of a worker. */
export type WorkerEvent =
  /** `cut off` is at the end of a drain: it goes on elsewhere; `lost` to somebody else: it goes on there already. */
  | { readonly is: 'driving' | 'cut off' | 'lost'; readonly threadId: string }
  | { readonly is: 'settled'; readonly threadId: string; readonly status: string }
  /** The drive has failed: it is tried again later, or the run is a dead letter. */
  | { readonly is: 'failed'; readonly threadId: string; readonly error: unknown; readonly attempt: number }
  /** It has not started: it waits for PostgreSQL, for as long as its runs are patient. */
  | { readonly is: 'waiting'; readonly error: unknown }
  /** PostgreSQL could not be asked. */
  | { readonly is: 'away'; readonly error: unknown };

const SLOTS = 10;
/** Before a run that could not be claimed or driven is tried again, ms: a full tenant, a newer file, a server that is away. */
const LATER_MS = 1000;
/** Before a run of an older graph that this worker's graph refuses is offered to others again, ms. */
const REFUSED_MS = 2000;
/** A refused run is looked at again after this, ms: somebody may have accepted it, or updated its state. */
const REFUSED_FOR_MS = 60_000;
/** Between two looks for older shapes of its graphs, ms. */
const OLDER_EVERY_MS = 5000;
/** After `abort`, calls have so long to end before they are left behind, ms. */
const LEAVE_MS = 3000;
/** Between two tries to let go of a run while PostgreSQL is away, ms. */
const AGAIN_MS = 1000;

/** Queues of older shapes of a worker's graphs: a deploy leaves runs in them, and workers with the older program may be gone. */
class OlderQueues {
  readonly #own: readonly string[];
  readonly #graphs: GraphQueues;
  readonly #looking: NodeJS.Timeout;
  readonly #known = new Map<string, string>();
  /** Those without a worker of their own. */
  queues: readonly string[] = [];

  constructor(own: readonly string[], graphs: GraphQueues) {
    this.#own = own;
    this.#graphs = graphs;
    // While PostgreSQL is away, those that are known are looked at.
    this.#looking = setInterval(() => void this.look().catch(() => undefined), OLDER_EVERY_MS);
    this.#looking.unref();
  }

  async look(): Promise<void> {
    const older = await this.#graphs.olderThan(this.#own);
    for (const [queue, own] of older) this.#known.set(queue, own);
    this.queues = [...older.keys()];
  }

  /** The queue of the graph that drives the runs in another; `undefined` for other queues. */
  ownOf(queue: string): string | undefined {
    return this.#known.get(queue);
  }

  stop(): void {
    clearInterval(this.#looking);
  }
}

/**
 * Executes the runs of its graphs: fetches a job, claims its run, executes it and settles. Several workers share the
 * queues. If one dies, the others execute its runs.
 */
export class Worker {
  readonly #runs: DrivenRuns;
  readonly #leases: Leases;
  readonly #view: ClusterView;
  readonly #drivers: ReadonlyMap<string, RunDriver>;
  readonly #older: OlderQueues;
  /** Runs of older graphs that the graph here refuses, and when that was found, in milliseconds since the Unix epoch. */
  readonly #refused = new Map<string, number>();
  readonly #meters: WorkerMeters;
  readonly #build: string;
  readonly #clock: DrivingParts['clock'];
  readonly #onEvent: (event: WorkerEvent) => void;
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();
  /** Of the runs in hand: they stop at their next safe point, and go on later. */
  #leave = new AbortController();
  /** Runs that are driven here: what is fetched twice is driven once. */
  readonly #driven = new Set<string>();
  readonly #dispatcher: Dispatcher;
  readonly #reaper: Reaper;
  readonly slots: number;
  /** Ends the work of drivers beside their runs. */
  readonly #tendEnd = new AbortController();
  readonly #tending: Promise<unknown>;
  #health: HealthServer | null = null;
  #stopped: Promise<number> | null = null;

  private constructor(
    runs: DrivenRuns,
    { jobs, leases, ended, meters, view, clock }: DrivingParts,
    { drivers, slots = SLOTS, onEvent, build = '', older }: WorkerOptions & { readonly older: OlderQueues },
  ) {
    this.#runs = runs;
    this.#leases = leases;
    this.#view = view;
    this.#drivers = new Map(drivers.map((driver) => [queueName(driver.queue), driver]));
    this.#older = older;
    this.#meters = meters;
    this.#tending = Promise.all(
      drivers.map(async (driver) => driver.tend?.({ signal: this.#tendEnd.signal })),
    );
    this.#clock = clock;
    this.#onEvent = onEvent ?? (() => undefined);
    this.slots = slots;
    this.#build = build;
    const onError = (error: unknown): void => this.#onEvent({ is: 'away', error });
    this.#dispatcher = new Dispatcher({
      ...{ jobs, owner: runs.owner, channel: jobsChannel(runs.schema), slots, onError },
      queues: () => [...this.#drivers.keys(), ...older.queues],
      caps: () => leases.caps(),
      take: (job, how) => this.#take(job, how),
      makeRoom: () => this.#makeRoom(),
    });
    this.#reaper = new Reaper({
      ...{ owner: runs.owner, leases, ended, onError },
      onSwept: (n) => meters.add('swept', n),
      onReaped: (n) => meters.add('reaped', n),
      onDue: (n) => meters.add('timers', n),
      onUnconfirmed: (n) => meters.add('unknownLeases', n),
      onRestored: (n) => meters.add('restoredJobs', n),
    });
  }

  /**
   * Resolves after the worker is registered and fetches jobs.
   *
   * @throws RangeError for less than one slot, or without a driver; DevsError `STATE_IO` if PostgreSQL stays away,
   *   `CONFIG_INVALID` and `SCHEMA_TOO_NEW` at once; the system's error for an unusable `healthPort`; the reason of
   *   `signal`.
   */
  static async start(runs: DrivenRuns, options: WorkerOptions): Promise<Worker> {
    const { slots = SLOTS, drivers, healthPort, onEvent, signal } = options;
    if (!Number.isInteger(slots) || slots < 1)
      throw new RangeError(`A worker needs at least one slot, got ${slots}.`);
    if (drivers.length === 0) throw new RangeError('A worker needs at least one graph.');
    const graphs = drivers.map((driver) => queueName(driver.queue));
    const onAway = (error: unknown): void => {
      if (error !== null) onEvent?.({ is: 'waiting', error });
    };
    const driving = await runs.driving({ onAway, signal });
    await runs.owner.describe({ slots, graphs, draining: false, retentionMs: driving.retentionMs });
    await runs.owner.ready();
    for (const graph of graphs) await driving.insist(() => driving.jobs.openQueue(graph));
    for (const { queue } of drivers) await driving.graphs.note(queue);
    const older = new OlderQueues(graphs, driving.graphs);
    await older.look();
    const worker = new Worker(runs, driving, { ...options, older });
    if (healthPort !== undefined) await worker.#serveHealth(healthPort);
    return worker;
  }

  async #serveHealth(port: number): Promise<void> {
    try {
      this.#health = await serveHealth(port, {
        notReady: () => this.#notReady(),
        metrics: () => this.#metrics(),
      });
    } catch (error) {
      await this.stop({ drainMs: 0 });
      throw error;
    }
  }

  /** Port of the health server, or `null`. */
  get healthPort(): number | null {
    return this.#health?.port ?? null;
  }

  async #notReady(): Promise<string | null> {
    if (this.#drain.signal.aborted) return 'draining';
    if (!this.#runs.owner.isReady) return 'no session with PostgreSQL';
    await this.#view.ask();
    return null;
  }

  async #metrics(): Promise<string> {
    const [numbers, dead, queues, tenants] = await Promise.all([
      this.#view.numbers(),
      this.#view.deadNumbers(),
      this.#view.queues(),
      this.#view.tenants(),
    ]);
    const { slots, busy, isReady } = this;
    const { skewSeconds } = this.#clock;
    const graphs = [...this.#drivers.keys()];
    const cluster = { numbers, dead, queues, tenants };
    return metricsText({
      slots,
      busy,
      isReady,
      skewSeconds,
      build: this.#build,
      graphs,
      ...cluster,
      meters: this.#meters,
    });
  }

  get busy(): number {
    return this.#dispatcher.busy;
  }

  /** Whether it accepts runs: registered and not draining. */
  get isReady(): boolean {
    return !this.#drain.signal.aborted && this.#runs.owner.isReady;
  }

  /**
   * Fetches no more jobs and pauses each run at its next safe point, for another worker to continue. After `drainMs`,
   * it ends calls in flight; they are made again. Returns the number of runs it left.
   */
  stop({ drainMs = 25_000 }: { readonly drainMs?: number } = {}): Promise<number> {
    this.#stopped ??= this.#stop(drainMs);
    return this.#stopped;
  }

  /** Ends calls in flight of a stopping worker now. */
  cutOff(): void {
    this.#abort.abort();
  }

  async #stop(drainMs: number): Promise<number> {
    this.#drain.abort();
    this.#older.stop();
    const { owner } = this.#runs;
    await owner.describe({ draining: true });
    const cut = setTimeout(() => this.cutOff(), drainMs);
    const patience = new AbortController();
    const left = sleep(drainMs + LEAVE_MS, undefined, patience).catch(() => undefined);
    // As long as it has runs it may be the one who looks after the others.
    const done = this.#dispatcher.stop().then(() => this.#reaper.stop());
    await Promise.race([done, left]);
    this.#tendEnd.abort();
    await this.#tending;
    clearTimeout(cut);
    patience.abort();
    void this.#reaper.stop();
    await this.#health?.close();
    return this.busy;
  }

  #makeRoom(): void {
    this.#leave.abort();
    this.#leave = new AbortController();
  }

  async #take(job: FetchedJob, { isAlone, share }: TakenHow): Promise<void> {
    this.#meters.add('fetched');
    const from = performance.now();
    try {
      const held = await this.#claim(job, isAlone);
      if (typeof held === 'object') {
        this.#meters.observe('takeUp', (performance.now() - from) / 1000);
        if (held.toldSeconds !== null) this.#meters.observe('decisionToClaim', held.toldSeconds);
        void held.shared.then(() => share(held.slots));
        return await this.#work(job, held);
      }
      const isForOthers = this.#drain.signal.aborted || held === 'suspect';
      const laterMs = this.#isRefused(job.runId) ? REFUSED_MS : LATER_MS;
      await this.#insist(() => this.#leases.decline(job, isForOthers ? 0 : laterMs));
    } catch (error) {
      const isServers = this.#sayFailed(job, error);
      await this.#insist(() =>
        isServers ? this.#leases.decline(job, LATER_MS) : this.#leases.failed(job, error),
      );
    }
  }

  async #claim({ runId, jobId, queue }: FetchedJob, isAlone: boolean): Promise<HeldPostgresRun | NotClaimed> {
    if (this.#drain.signal.aborted || this.#driven.has(runId)) return 'busy';
    if (this.#isRefused(runId) && !this.#drivers.has(queue)) return 'busy';
    return this.#runs.take(runId, { jobId, isCapped: true, isAlone });
  }

  #isRefused(runId: string): boolean {
    const at = this.#refused.get(runId);
    if (at === undefined || Date.now() - at < REFUSED_FOR_MS) return at !== undefined;
    this.#refused.delete(runId);
    return false;
  }

  async #work(job: FetchedJob, held: HeldPostgresRun): Promise<void> {
    const { runId } = job;
    this.#driven.add(runId);
    this.#meters.add('claimed');
    this.#onEvent({ is: 'driving', threadId: runId });
    try {
      this.#onEvent({ is: 'settled', threadId: runId, status: await this.#drive(job.queue, held) });
      this.#meters.add('settled');
    } catch (error) {
      await this.#failed(job, held, error);
    } finally {
      await held.close().catch((error: unknown) => this.#onEvent({ is: 'away', error }));
      this.#driven.delete(runId);
    }
  }

  async #drive(queue: string, held: HeldPostgresRun): Promise<string> {
    const driver = this.#drivers.get(this.#older.ownOf(queue) ?? queue) as RunDriver;
    const drain = AbortSignal.any([this.#drain.signal, this.#leave.signal]);
    for (;;) {
      const end = await driver.drive(held, { drain, signal: this.#abort.signal });
      if ((await held.settle(end)) === 'settled') return end.status;
      this.#meters.add('again');
    }
  }

  async #failed(job: FetchedJob, held: HeldPostgresRun, error: unknown): Promise<void> {
    const { runId } = job;
    if (isDevsError(error, 'LEASE_LOST') || held.lost.aborted) {
      this.#meters.add('leasesLost');
      this.#onEvent({ is: 'lost', threadId: runId });
      // A server that has lost commits may know the lease still, or that the run is nobody's and the job in hand.
      await this.#insist(() => this.#leases.freeLeases([held.lease]));
      return this.#insist(() => this.#leases.decline(job, 0));
    }
    if (isDevsError(error, 'GRAPH_CHANGED') && !this.#drivers.has(job.queue)) {
      // A worker of its own graph may have it.
      this.#sayFailed(job, error);
      this.#refused.set(runId, Date.now());
      await this.#insist(() => this.#leases.giveUp(held.epoch, job, null, REFUSED_MS));
      return;
    }
    const isCutOff = this.#abort.signal.aborted;
    if (isCutOff) this.#onEvent({ is: 'cut off', threadId: runId });
    const isServers = !isCutOff && this.#sayFailed(job, error);
    const counted = isCutOff || isServers ? null : error;
    // As long as this process lives the run is its own: nobody else would take it.
    await this.#insist(() => this.#leases.giveUp(held.epoch, job, counted, isServers ? LATER_MS : 0));
  }

  /** Whether it is a fault of the server, which does not count. */
  #sayFailed({ runId, retryCount }: FetchedJob, error: unknown): boolean {
    if (isServerFault(error)) {
      this.#onEvent({ is: 'away', error });
      return true;
    }
    this.#meters.add('failed');
    this.#onEvent({ is: 'failed', threadId: runId, error, attempt: retryCount + 1 });
    return false;
  }

  /** Until PostgreSQL has answered, or there is no more time. */
  async #insist(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        this.#onEvent({ is: 'away', error });
        if (this.#abort.signal.aborted) return;
        await sleep(AGAIN_MS, undefined, { signal: this.#abort.signal }).catch(() => undefined);
      }
    }
  }
}

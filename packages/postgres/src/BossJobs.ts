import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { type Db, getConstructionPlans, PgBoss } from 'pg-boss';
import type { Jobs, QueuedRun } from './Jobs.ts';
import { jobsChannel } from './Owner.ts';
import { quoted } from './schema.ts';

/** A run that a worker is to drive, as it took it from a queue: at most one of a run is in hand. */
export interface FetchedJob {
  readonly jobId: string;
  readonly runId: string;
  readonly queue: string;
  /** Times it was fetched before: which attempt this is. */
  readonly retryCount: number;
}

/** A run that was given up: its driver failed as often as it was tried. */
export interface DeadLetter {
  readonly jobId: string;
  readonly runId: string;
  readonly queue: string;
  readonly attempts: number;
  /** What its last driver failed with. */
  readonly error: string;
  readonly at: Date;
}

/** How many of a tenant's jobs are in hand at the same time, in one queue. */
export type TenantCaps = ReadonlyMap<string, number>;

export interface BossJobsOptions {
  /** Of the runs; the jobs have one of their own beside it. */
  readonly schema: string;
  /** Told what pg-boss fails at in the background. @defaultValue nobody */
  readonly onError?: (error: unknown) => void;
}

/** The schema of the jobs. */
export const bossSchema = (schema: string): string => `${schema}_boss`;

const DEAD_QUEUE = 'runs.dead';

const YEAR_SECONDS = 365 * 24 * 3600;

/** The retries are those of an engine fault; a run that fails by itself has ended. */
const QUEUE = {
  policy: 'exclusive', // one live job per run
  retryLimit: 8,
  retryDelay: 1, // with 0, what fails before the claim is a storm
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 24 * 3600, // the most there is; who holds a run longer looks again when he settles
  retentionSeconds: 10 * YEAR_SECONDS, // a run waits for a worker as long as it takes
  deleteAfterSeconds: 24 * 3600,
  heartbeatSeconds: 30, // what was fetched by who died before he claimed it
  deadLetter: DEAD_QUEUE,
} as const;

/** Above any number of jobs in hand. */
const NO_CAP = 1_000_000;

/** A run's id where pg-boss takes it as a key, else a digest of it. */
const keyOf = (runId: string): string =>
  /^[\w./-]+$/.test(runId) ? runId : `sha256/${createHash('sha256').update(runId).digest('hex')}`;

const dbOf = (client: Pick<ClientBase, 'query'>): Db => ({
  executeSql: async (text, values) => client.query(text, values),
});

/** Makes or raises the tables of the jobs; several may try at the same time. */
export async function migrateJobs(pool: Pool, schema: string): Promise<void> {
  const boss = bossOf(pool, { schema }, true);
  await boss.start();
  await boss.stop({ close: false, graceful: false });
}

/** What `migrateJobs` does to an empty database, for who reads or runs it himself. */
export const jobsSql = (schema: string): string => getConstructionPlans(bossSchema(schema));

function bossOf(pool: Pool, { schema, onError }: BossJobsOptions, migrate: boolean) {
  const boss = new PgBoss({
    db: dbOf(pool as unknown as Pick<ClientBase, 'query'>),
    schema: bossSchema(schema),
    migrate,
    supervise: false, // the leader of the workers does it: see `tidy`
    monitorIntervalSeconds: 10,
    schedule: false,
    registerInstance: false,
    openTelemetry: { enabled: false },
  });
  boss.on('error', (error) => onError?.(error));
  return boss;
}

/**
 * Jobs of pg-boss, one per run that is to be driven: a queue per graph and shape, an `exclusive` one, so that a run has one
 * live job, and its key is the run. What is sent in a transaction is there with it. Its own listener is not used: each idle
 * slot of each process would fetch on each wake; a `Dispatcher` listens once per process.
 */
export class BossJobs implements Jobs {
  readonly #boss: PgBoss;
  readonly #pool: Pick<ClientBase, 'query'>;
  readonly #runs: string;
  readonly #table: string;
  readonly #channel: string;
  readonly #opened = new Map<string, Promise<void>>();
  #started: Promise<unknown> | null = null;

  /** @param pool Of its own: what it asks on the way of a transaction must not wait for a connection that transactions have. */
  constructor(pool: Pool, options: BossJobsOptions) {
    this.#pool = pool as unknown as Pick<ClientBase, 'query'>;
    this.#runs = `${quoted(options.schema)}.runs`;
    this.#boss = bossOf(pool, options, false);
    this.#table = `${quoted(bossSchema(options.schema))}.job`;
    this.#channel = jobsChannel(options.schema);
  }

  openQueue(queue: string): Promise<void> {
    const known = this.#opened.get(queue);
    if (known !== undefined) return known;
    const opened = this.#open(queue);
    this.#opened.set(queue, opened);
    opened.catch(() => this.#opened.delete(queue));
    return opened;
  }

  async #open(queue: string): Promise<void> {
    const boss = await this.#ready();
    await boss.createQueue(DEAD_QUEUE, { retentionSeconds: 10 * YEAR_SECONDS });
    await boss.createQueue(queue, QUEUE);
  }

  async wake(client: ClientBase, run: QueuedRun): Promise<void> {
    if ((await this.#send(client, run)) !== null) await this.#notify(client, run.queue);
  }

  async complete(client: ClientBase, { queue }: Pick<QueuedRun, 'queue'>, jobId: string): Promise<void> {
    const boss = await this.#ready();
    await boss.deleteJob(queue, jobId, { db: dbOf(client) });
  }

  /** Puts the job back to the end of the queue, for `afterMs` not to be fetched. */
  async putBack(client: ClientBase, run: QueuedRun, jobId: string, afterMs = 0): Promise<void> {
    await this.complete(client, run, jobId);
    await this.#send(client, run, afterMs);
    if (afterMs === 0) await this.#notify(client, run.queue);
  }

  /** The attempt has failed: it is tried again later, or is a dead letter. Nothing where somebody else has it. */
  async fail(client: ClientBase, job: FetchedJob, error: unknown): Promise<void> {
    const boss = await this.#ready();
    const { jobId: id, retryCount } = job;
    await boss.fail(job.queue, { id, retryCount }, { error: String(error) }, { db: dbOf(client) });
  }

  /** The next jobs of a queue, the highest priority first, then the oldest. */
  async fetch(
    queue: string,
    { limit, caps }: { readonly limit: number; readonly caps: TenantCaps },
  ): Promise<readonly FetchedJob[]> {
    const boss = await this.#ready();
    const jobs = await boss.fetch<{ readonly runId: string }>(queue, {
      batchSize: limit,
      ...(caps.size > 0 && { groupConcurrency: { default: NO_CAP, tiers: Object.fromEntries(caps) } }),
    });
    return jobs.map(({ id, data, retryCount }) => ({ jobId: id, runId: data.runId, queue, retryCount }));
  }

  /** Jobs that were fetched, and whose runs nobody has. Locks the runs. */
  async unclaimed(
    client: ClientBase,
    limit: number,
  ): Promise<readonly (QueuedRun & { readonly job_id: string })[]> {
    const { rows } = await client.query<QueuedRun & { readonly job_id: string }>(
      `SELECT r.run_id AS "runId", j.name AS queue, r.tenant, r.priority, j.id AS job_id
       FROM ${this.#table} j JOIN ${this.#runs} r ON r.run_id = j.data ->> 'runId'
       WHERE j.state = 'active' AND j.name LIKE 'runs.%' AND r.owner IS NULL
       ORDER BY r.run_id LIMIT $1 FOR UPDATE OF r SKIP LOCKED`,
      [limit],
    );
    return rows;
  }

  /** Says that they are in hand still. */
  async touch(jobs: readonly FetchedJob[]): Promise<void> {
    const boss = await this.#ready();
    for (const queue of new Set(jobs.map((job) => job.queue))) {
      const ids = jobs.filter((job) => job.queue === queue).map(({ jobId }) => jobId);
      await boss.touch(queue, ids);
    }
  }

  /** The runs that were given up, oldest first, at most 1,000. */
  async deadLetters(): Promise<readonly DeadLetter[]> {
    const boss = await this.#ready();
    await boss.createQueue(DEAD_QUEUE, { retentionSeconds: 10 * YEAR_SECONDS });
    const jobs = await boss.findJobs<{ readonly runId: string }>(DEAD_QUEUE, { queued: true });
    return jobs.map(({ id, data, sourceName, sourceRetryCount, sourceOutput, createdOn }) => ({
      jobId: id,
      runId: data.runId,
      queue: sourceName ?? '',
      attempts: (sourceRetryCount ?? 0) + 1,
      error: (sourceOutput as { readonly error?: string } | null)?.error ?? '',
      at: createdOn,
    }));
  }

  /** Has the runs driven again that were given up; how many. */
  async redrive(letters: readonly DeadLetter[]): Promise<number> {
    if (letters.length === 0) return 0;
    const boss = await this.#ready();
    const redriven = await boss.redrive(DEAD_QUEUE, { ids: letters.map(({ jobId }) => jobId) });
    for (const queue of new Set(letters.map((letter) => letter.queue))) await this.#notify(this.#pool, queue);
    return redriven;
  }

  /** Has tried again what was fetched by who died before he claimed it, and drops what is old. By one process, every few seconds. */
  async tidy(): Promise<void> {
    const boss = await this.#ready();
    await boss.supervise();
  }

  async close(): Promise<void> {
    if (this.#started === null) return;
    await this.#started.catch(() => undefined);
    await this.#boss.stop({ close: false, graceful: false });
  }

  async #send(client: ClientBase, run: QueuedRun, afterMs = 0): Promise<string | null> {
    const boss = await this.#ready();
    return boss.send(
      run.queue,
      { runId: run.runId },
      {
        db: dbOf(client),
        singletonKey: keyOf(run.runId),
        priority: run.priority,
        group: { id: run.tenant, tier: run.tenant },
        startAfter: Math.ceil(afterMs / 1000),
      },
    );
  }

  async #notify(client: Pick<ClientBase, 'query'>, queue: string): Promise<void> {
    await client.query('SELECT pg_notify($1, $2)', [this.#channel, queue]);
  }

  /** Its first use starts it: who only reads asks nothing of it. */
  async #ready(): Promise<PgBoss> {
    this.#started ??= this.#boss.start();
    try {
      await this.#started;
    } catch (error) {
      this.#started = null;
      throw error;
    }
    return this.#boss;
  }
}

import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { type Db, getConstructionPlans, PgBoss } from 'pg-boss';
import { jobsChannel } from '../server/Owner.ts';
import { quoteIdentifier } from '../server/Tables.ts';
import { isApart, type Jobs, MAX_DEATHS, MAX_RETRIES, type QueuedRun } from './Jobs.ts';

/** A run that a worker is to drive, as it took it from a queue: at most one of a run is in hand. */
export interface FetchedJob {
  readonly jobId: string;
  readonly runId: string;
  readonly queue: string;
  /** Times it was fetched before: which attempt this is. */
  readonly retryCount: number;
}

/** How many of a tenant's jobs are in hand at the same time, in one queue. */
export type TenantCaps = ReadonlyMap<string, number>;

/** What is fetched. */
export interface FetchOptions {
  readonly limit: number;
  readonly caps: TenantCaps;
  /** For a worker that has nothing in hand. @defaultValue false */
  readonly alone?: boolean;
}

export interface BossJobsOptions {
  /** Of the runs; the jobs have one of their own beside it. */
  readonly schema: string;
  /** Told what pg-boss fails at in the background. @defaultValue nobody */
  readonly onError?: (error: unknown) => void;
}

/** The schema of the jobs. */
export const bossSchema = (schema: string): string => `${schema}_boss`;

const YEAR_SECONDS = 365 * 24 * 3600;

/**
 * The retries are those of an engine fault; a run that fails by itself has ended. The row decides whether a run is given up: after
 * the last try of pg-boss, the sweep makes a new job.
 */
const QUEUE = {
  policy: 'exclusive', // one live job per run
  retryLimit: MAX_RETRIES,
  retryDelay: 1, // with 0, what fails before the claim is a storm
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 24 * 3600, // the most there is; who holds a run longer looks again when he settles
  retentionSeconds: 10 * YEAR_SECONDS, // a run waits for a worker as long as it takes
  deleteAfterSeconds: 24 * 3600,
  heartbeatSeconds: 30, // what was fetched by who died before he claimed it
} as const;

/**
 * Of jobs that only empty workers take, see `isApart`: below all others, so a fetch tells them apart. The priority
 * of a run cannot get there.
 */
const SUSPECT = -1_000_000_000;

const priorityOf = ({ priority, ...run }: QueuedRun): number =>
  isApart(run) ? SUSPECT - 1 + Math.min(Math.max(priority, SUSPECT), 0) : Math.max(priority, SUSPECT);

/** Between two workers that make room for the same job, ms. */
const ROOM_MS = 5000;

/** Said with the name of a queue: it has a job for a worker that has nothing in hand. */
const ALONE = ' alone';

const noticeOfJob = ({ queue, ...run }: Pick<QueuedRun, 'queue' | 'deaths' | 'slots'>): string =>
  isApart(run) ? queue + ALONE : queue;

/** What is said when a queue has a job. */
export const noticeOf = (notice: string): { readonly queue: string; readonly isAlone: boolean } =>
  notice.endsWith(ALONE)
    ? { queue: notice.slice(0, -ALONE.length), isAlone: true }
    : { queue: notice, isAlone: false };

/** Above any number of jobs in hand. */
const NO_CAP = 1_000_000;

/** A run's id where pg-boss takes it as a key, else a digest of it. */
const jobKey = (runId: string): string =>
  /^[\w./-]+$/.test(runId) ? runId : `sha256/${createHash('sha256').update(runId).digest('hex')}`;

const dbOf = (client: Pick<ClientBase, 'query'>): Db => ({
  executeSql: async (text, values) => client.query(text, values),
});

/** Makes or raises the tables of the jobs; several may try at the same time. */
export async function migrateJobs(pool: Pool, schema: string): Promise<void> {
  const boss = bossOf(pool, { schema }, true);
  await boss.start();
  await boss.stop({ close: false, graceful: false });
  await pool.query(takeOldLettersSql(schema));
}

/** Dead letters of earlier releases were jobs of a queue of their own; only rows of runs are changed. */
const takeOldLettersSql = (schema: string): string => {
  const [runs, jobs] = [quoteIdentifier(schema), quoteIdentifier(bossSchema(schema))];
  return `DO $$ BEGIN IF to_regclass('${runs}.run_starts') IS NOT NULL THEN
  WITH letters AS (DELETE FROM ${jobs}.job WHERE name = 'runs.dead' RETURNING *)
  UPDATE ${runs}.runs r SET status = 'dead_letter', reason = coalesce(l.source_output, l.output) ->> 'error', given_up = l.created_on, ended_at = l.created_on
  FROM letters l WHERE l.state < 'active' AND r.run_id = l.data ->> 'runId' AND r.owner IS NULL AND r.ended_at IS NULL;
END IF; END $$`;
};

/** Returns the SQL that `migrateJobs` executes on an empty database. */
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
  readonly #workers: string;
  readonly #table: string;
  readonly #channel: string;
  readonly #opened = new Map<string, Promise<void>>();
  #started: Promise<unknown> | null = null;

  /** @param pool Of its own: what it asks on the way of a transaction must not wait for a connection that transactions have. */
  constructor(pool: Pool, options: BossJobsOptions) {
    this.#pool = pool as unknown as Pick<ClientBase, 'query'>;
    this.#runs = `${quoteIdentifier(options.schema)}.runs`;
    this.#workers = `${quoteIdentifier(options.schema)}.workers`;
    this.#boss = bossOf(pool, options, false);
    this.#table = `${quoteIdentifier(bossSchema(options.schema))}.job`;
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
    await boss.createQueue(queue, QUEUE);
  }

  async wake(client: ClientBase, run: QueuedRun): Promise<void> {
    if ((await this.#send(dbOf(client), run)) !== null) await this.#notify(client, run);
  }

  async wakeNew(run: QueuedRun, first: number): ReturnType<Jobs['wakeNew']> {
    const sent: { text: string; values: readonly unknown[] }[] = [];
    const executeSql: Db['executeSql'] = async (text, values = []) => {
      sent.push({ text, values });
      return { rows: [{ id: '' }] };
    };
    await this.#send({ executeSql }, run);
    const [job] = sent;
    if (job === undefined || job.values.length !== 1)
      throw new TypeError('pg-boss: expected one insert with one value.');
    const jobs = `(CASE WHEN EXISTS (SELECT FROM held) THEN $${first}::text ELSE '[]' END)`;
    return {
      sql: `job AS (${job.text.replace('$1', () => jobs)}), notified AS (
  SELECT pg_notify($${first + 1}, $${first + 2}) FROM job
)`,
      values: [...job.values, this.#channel, noticeOfJob(run)],
    };
  }

  doneSql(queue: string): string {
    return `done AS (DELETE FROM ${this.#table} j USING held WHERE j.name = ${queue} AND j.id = held.job)`;
  }

  async complete(client: ClientBase, { queue }: Pick<QueuedRun, 'queue'>, jobId: string): Promise<void> {
    const boss = await this.#ready();
    await boss.deleteJob(queue, jobId, { db: dbOf(client) });
  }

  async forget(client: ClientBase, runIds: readonly string[]): Promise<void> {
    const sql = `DELETE FROM ${this.#table} WHERE name LIKE 'runs.%' AND data ->> 'runId' = ANY ($1)`;
    await client.query(sql, [runIds]);
  }

  /** Puts the job back to the end of the queue, for `afterMs` not to be fetched. */
  async putBack(client: ClientBase, run: QueuedRun, jobId: string, afterMs = 0): Promise<void> {
    await this.complete(client, run, jobId);
    await this.#send(dbOf(client), run, afterMs);
    if (afterMs === 0) await this.#notify(client, run);
  }

  /** The attempt has failed: it is tried again later. Nothing where somebody else has it. */
  async fail(client: ClientBase, job: FetchedJob, error: unknown): Promise<void> {
    const boss = await this.#ready();
    const { jobId: id, retryCount } = job;
    await boss.fail(job.queue, { id, retryCount }, { error: String(error) }, { db: dbOf(client) });
  }

  /**
   * The next jobs of a queue, the highest priority first, then the oldest. Those whose runs may be what their drivers died of
   * are fetched `alone`, and no other with them.
   */
  async fetch(queue: string, { limit, caps, alone = false }: FetchOptions): Promise<readonly FetchedJob[]> {
    const boss = await this.#ready();
    const jobs = await boss.fetch<{ readonly runId: string }>(queue, {
      batchSize: limit,
      ...(alone ? { maxPriority: SUSPECT - 1 } : { minPriority: SUSPECT }),
      ...(caps.size > 0 && { groupConcurrency: { default: NO_CAP, tiers: Object.fromEntries(caps) } }),
    });
    return jobs.map(({ id, data, retryCount }) => ({ jobId: id, runId: data.runId, queue, retryCount }));
  }

  /**
   * Whether a job waits for a worker with nothing in hand, and this worker is to make room for it: the first of those that
   * fetch from its queue once it has waited for `afterMs`, the next one as long after that.
   */
  async isRoomWanted(worker: string, queues: readonly string[], afterMs: number): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `SELECT 1 FROM ${this.#table} j WHERE j.name = ANY ($2) AND j.state < 'active' AND j.priority < $3
         AND j.start_after <= now() - interval '1 ms' * $4::int - interval '1 ms' * ${ROOM_MS} * (
           SELECT count(*) FROM ${this.#workers} w, ${this.#workers} self
           WHERE self.worker_id = $1 AND NOT w.draining AND w.graphs ? j.name
             AND (w.started_at, w.worker_id) < (self.started_at, self.worker_id))
       LIMIT 1`,
      [worker, queues, SUSPECT, afterMs],
    );
    return (rowCount ?? 0) > 0;
  }

  /**
   * Runs that are to be driven, and that nobody has and no job is of: a server that has lost commits, or who declined one too
   * early. Locks the runs.
   */
  async withoutJob(client: ClientBase, limit: number): Promise<readonly QueuedRun[]> {
    const { rows } = await client.query<QueuedRun>(
      `SELECT r.run_id AS "runId", r.queue, r.tenant, r.priority, r.deaths, r.slots FROM ${this.#runs} r
       WHERE r.owner IS NULL AND r.ended_at IS NULL AND (r.status IN ('created', 'running') OR r.wake_seq > r.handled_seq)
         AND r.deaths < ${MAX_DEATHS} AND NOT EXISTS (
           SELECT 1 FROM ${this.#table} j WHERE j.state <= 'active' AND j.name LIKE 'runs.%' AND j.data ->> 'runId' = r.run_id)
       ORDER BY r.run_id LIMIT $1 FOR UPDATE OF r SKIP LOCKED`,
      [limit],
    );
    return rows;
  }

  /** Jobs that were fetched, and whose runs nobody has. Locks the runs. */
  async unclaimed(
    client: ClientBase,
    limit: number,
  ): Promise<readonly (QueuedRun & { readonly job_id: string })[]> {
    const { rows } = await client.query<QueuedRun & { readonly job_id: string }>(
      `SELECT r.run_id AS "runId", j.name AS queue, r.tenant, r.priority, r.deaths, r.slots, j.id AS job_id
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

  async #send(db: Db, run: QueuedRun, afterMs = 0): Promise<string | null> {
    const boss = await this.#ready();
    return boss.send(
      run.queue,
      { runId: run.runId },
      {
        db,
        singletonKey: jobKey(run.runId),
        priority: priorityOf(run),
        group: { id: run.tenant, tier: run.tenant },
        startAfter: Math.ceil(afterMs / 1000),
      },
    );
  }

  async #notify(
    client: Pick<ClientBase, 'query'>,
    run: Pick<QueuedRun, 'queue' | 'deaths' | 'slots'>,
  ): Promise<void> {
    await client.query('SELECT pg_notify($1, $2)', [this.#channel, noticeOfJob(run)]);
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

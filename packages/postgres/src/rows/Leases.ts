import type { ClientBase } from 'pg';
import type { BossJobs, FetchedJob, TenantCaps } from '../jobs/BossJobs.ts';
import { MAX_DEATHS, MAX_EARLY_DEATHS, MAX_RETRIES, type QueuedRun, SUSPECT_DEATHS } from '../jobs/Jobs.ts';
import { requireTenant } from '../options.ts';
import { DEAD_AFTER_MS, isDeadSql } from '../server/Owner.ts';
import type { Tables } from '../server/Tables.ts';
import { DIED, DIED_EARLY } from './deaths.ts';
import { sqlText } from './indexRow.ts';

/** A run that was given up: it rests until an operator redrives it. */
export interface DeadLetter {
  readonly threadId: string;
  readonly queue: string;
  /** Executions that failed, or processes that died with it. */
  readonly attempts: number;
  /** Error of the last execution. */
  readonly error: string;
  readonly at: Date;
}

interface LetterRow {
  readonly run_id: string;
  readonly queue: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly given_up: Date;
}

/** A run that is taken from its holder, with what it was claimed for. */
interface FreedRow {
  readonly run_id: string;
  readonly queue: string;
  readonly tenant: string;
  readonly priority: number;
  readonly deaths: number;
  readonly slots: number;
  readonly job_id: string | null;
}

interface EarlyDeaths {
  readonly early_deaths: number;
}

const queuedRun = ({ run_id, queue, tenant, priority, deaths, slots }: FreedRow): QueuedRun => ({
  runId: run_id,
  ...{ queue, tenant, priority, deaths, slots },
});

const FREED = 'r.run_id, r.queue, r.tenant, r.priority, r.deaths, r.slots';

/** Of a lease that its process does not know: not of one whose claim may be on its way, ms. */
const KNOWN_AFTER_MS = DEAD_AFTER_MS;

const GIVEN_UP = `${MAX_DEATHS} processes died or froze while executing this run, without any progress: its next action ends the process or needs more memory than available`;

const GIVEN_UP_EARLY = `${MAX_EARLY_DEATHS} processes died or froze before they began to execute this run: loading it ends the process or needs more memory than available`;

const givenUp = ({ early_deaths }: EarlyDeaths): string =>
  early_deaths >= MAX_EARLY_DEATHS ? GIVEN_UP_EARLY : GIVEN_UP;

/** At once, runs. */
const BATCH = 200;

/**
 * Who has which run, beyond one claim: takes runs from the dead, has those driven whose time has come, and keeps the tenants to
 * their share. Every transaction locks runs first, then tenants, then jobs.
 */
export class Leases {
  readonly #tables: Tables;
  readonly #jobs: BossJobs;
  readonly #schema: string;

  constructor(tables: Tables, jobs: BossJobs) {
    this.#tables = tables;
    this.#jobs = jobs;
    this.#schema = tables.schema;
  }

  /**
   * Takes the runs of dead processes from them, and has them driven: a new epoch refuses what a frozen one writes when it
   * goes on. Those that somebody works on this moment are left for the next time. Each has one more death then, and at the fifth
   * is a dead letter: who a process died of is not known, so that all it had are driven with care until they make progress.
   * Returns how many.
   */
  async reap(): Promise<number> {
    return this.#tables.transaction(async (client) => {
      const dead = await client.query(`DELETE FROM ${this.#schema}.workers w WHERE ${isDeadSql('w')}`);
      const orphaned = `NOT EXISTS (SELECT FROM ${this.#schema}.workers w WHERE w.worker_id = r.owner)`;
      const rows = await this.#free(client, orphaned, { died: true });
      if ((dead.rowCount ?? 0) > 0) await this.#giveBack(client);
      return rows.length;
    });
  }

  /** Has runs driven that are held under leases which nobody knows any more. Returns how many still were. */
  async freeLeases(leases: readonly string[]): Promise<number> {
    const held = 'r.lease = ANY ($1::uuid[])';
    return this.#tables.transaction(
      async (client) => (await this.#free(client, held, { values: [leases] })).length,
    );
  }

  /**
   * Has runs driven that a live process has by their rows and not by what it says itself: it has lost them, and does not find
   * that out. Returns how many.
   */
  async freeUnconfirmed(): Promise<number> {
    const unconfirmed = `EXISTS (SELECT FROM ${this.#schema}.workers w WHERE w.worker_id = r.owner
      AND r.claimed_at < w.leases_at - interval '${KNOWN_AFTER_MS} ms' AND NOT r.lease = ANY (w.leases))`;
    return this.#tables.transaction(async (client) => (await this.#free(client, unconfirmed)).length);
  }

  /** Has runs driven that are to be and have no job, as their rows say: a job is a hint. Returns how many. */
  async restoreJobs(): Promise<number> {
    return this.#tables.transaction(async (client) => {
      const runs = await this.#jobs.withoutJob(client, BATCH);
      for (const run of runs) await this.#jobs.wake(client, run);
      return runs.length;
    });
  }

  /** @param which - Of `runs r`, that somebody has. */
  async #free(
    client: ClientBase,
    which: string,
    { died = false, values = [] }: { readonly died?: boolean; readonly values?: readonly unknown[] } = {},
  ): Promise<readonly FreedRow[]> {
    const schema = this.#schema;
    const { rows } = await client.query<FreedRow & EarlyDeaths>(
      `WITH theirs AS (
  SELECT r.run_id, r.job_id FROM ${schema}.runs r WHERE r.owner IS NOT NULL AND ${which}
  ORDER BY r.run_id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
)
UPDATE ${schema}.runs r SET owner = NULL, lease = NULL, job_id = NULL, epoch = r.epoch + 1,
  ${died ? `deaths = ${DIED}, early_deaths = ${DIED_EARLY}, ` : ''}updated_at = now()
FROM theirs WHERE r.run_id = theirs.run_id RETURNING ${FREED}, r.early_deaths, theirs.job_id`,
      [...values],
    );
    await this.#recount(client, rows);
    for (const row of rows) {
      if (row.job_id !== null) await this.#jobs.complete(client, queuedRun(row), row.job_id);
      if (row.deaths < MAX_DEATHS) await this.#jobs.wake(client, queuedRun(row));
      else if (died && row.deaths === MAX_DEATHS) await this.#bury(client, row.run_id, givenUp(row));
    }
    return rows;
  }

  /** Jobs of which nobody has the run: whoever lives and has fetched one finds it free, or in the hands of the next. */
  async #giveBack(client: ClientBase): Promise<void> {
    for (const { job_id, ...run } of await this.#jobs.unclaimed(client, BATCH))
      await this.#jobs.putBack(client, run, job_id);
  }

  /** Has those driven whose time has come; returns how many. */
  async wakeDue(): Promise<number> {
    return this.#tables.transaction(async (client) => {
      const { rows } = await client.query<FreedRow>(
        `UPDATE ${this.#schema}.runs r SET until = NULL WHERE run_id IN (
           SELECT run_id FROM ${this.#schema}.runs WHERE until <= now() ORDER BY until LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
         RETURNING ${FREED}, job_id`,
      );
      for (const row of rows) await this.#jobs.wake(client, queuedRun(row));
      return rows.length;
    });
  }

  /**
   * A job whose run was not claimed: it is gone where nothing is to be driven (the run has ended, or was given up; or somebody
   * holds it, who looks again when he settles, is reaped when he dies, and has it freed where he does not confirm that), else it
   * is back in its queue, after `afterMs`. Looked at under the lock of the run: nobody claims, settles or tells meanwhile.
   */
  async decline(job: FetchedJob, afterMs: number): Promise<void> {
    await this.#tables.transaction(async (client) => {
      const { rows } = await client.query<FreedRow & { readonly rests: boolean }>(
        `SELECT ${FREED}, job_id,
           owner IS NOT NULL OR ended_at IS NOT NULL OR queue <> $2 OR deaths >= ${MAX_DEATHS} AS rests
         FROM ${this.#schema}.runs r WHERE run_id = $1 FOR UPDATE`,
        [job.runId, job.queue],
      );
      const [row] = rows;
      if (row === undefined || row.rests) await this.#jobs.complete(client, job, job.jobId);
      else await this.#jobs.putBack(client, queuedRun(row), job.jobId, afterMs);
    });
  }

  /** A job of a run that could not be checked out: tried again later, or the run is given up. */
  async failed(job: FetchedJob, error: unknown): Promise<void> {
    await this.#tables.transaction(async (client) => {
      const { rows } = await client.query<FreedRow & { readonly failures: number }>(
        `UPDATE ${this.#schema}.runs r SET failures = failures + 1
         WHERE run_id = $1 AND owner IS NULL AND ended_at IS NULL RETURNING ${FREED}, job_id, failures`,
        [job.runId],
      );
      const [row] = rows;
      if (row === undefined) await this.#jobs.complete(client, job, job.jobId);
      else await this.#failOrBury(client, job, { error, failures: row.failures });
    });
  }

  async #failOrBury(
    client: ClientBase,
    job: FetchedJob,
    { error, failures }: { readonly error: unknown; readonly failures: number },
  ): Promise<void> {
    if (failures > MAX_RETRIES) await this.#bury(client, job.runId, String(error));
    else await this.#jobs.fail(client, job, error);
  }

  /** Makes a dead letter of a free run: marks its row, and deletes its jobs. */
  async #bury(client: ClientBase, runId: string, why: string): Promise<void> {
    await client.query(
      `UPDATE ${this.#schema}.runs SET status = 'dead_letter', reason = $2, given_up = now(), ended_at = now(), until = NULL,
         updated_at = now() WHERE run_id = $1`,
      [runId, sqlText(why)],
    );
    await this.#jobs.forget(client, [runId]);
  }

  /**
   * Lets go of a run that was driven and not settled: where its drive has failed, it is tried again later; with no error, after `afterMs`.
   * False where somebody else has it.
   */
  async giveUp(epoch: number, job: FetchedJob, error: unknown, afterMs = 0): Promise<boolean> {
    return this.#tables.transaction(async (client) => {
      const { rows } = await client.query<FreedRow & { readonly failures: number }>(
        `UPDATE ${this.#schema}.runs r SET owner = NULL, lease = NULL, job_id = NULL, epoch = epoch + 1,
           failures = failures + CASE WHEN $3 THEN 1 ELSE 0 END, updated_at = now()
         WHERE run_id = $1 AND epoch = $2 AND owner IS NOT NULL RETURNING ${FREED}, job_id, failures`,
        [job.runId, epoch, error !== null],
      );
      await this.#recount(client, rows);
      const [row] = rows;
      if (row === undefined) return false;
      if (error === null) await this.#jobs.putBack(client, queuedRun(row), job.jobId, afterMs);
      else await this.#failOrBury(client, job, { error, failures: row.failures });
      return true;
    });
  }

  /** The runs that were given up, oldest first, at most 1,000. */
  async deadLetters(): Promise<readonly DeadLetter[]> {
    const rows = await this.#tables.query<LetterRow>(
      `SELECT run_id, queue, greatest(failures, deaths, 1) AS attempts, reason, given_up FROM ${this.#schema}.runs
       WHERE given_up IS NOT NULL ORDER BY given_up, run_id LIMIT 1000`,
      [],
    );
    return rows.map(({ run_id: threadId, reason, given_up: at, ...row }) => ({
      ...{ threadId, error: reason ?? '', at },
      ...row,
    }));
  }

  /**
   * Has dead letters driven again, those that processes died with still with care. Returns the ids of those that were some.
   *
   * @param ids - `null` for all.
   */
  async redrive(ids: readonly string[] | null): Promise<readonly string[]> {
    return this.#tables.transaction(async (client) => {
      const { rows } = await client.query<FreedRow>(
        `WITH letters AS (
  SELECT run_id FROM ${this.#schema}.runs WHERE given_up IS NOT NULL AND owner IS NULL AND ($1::text[] IS NULL OR run_id = ANY ($1))
  ORDER BY run_id FOR UPDATE
)
UPDATE ${this.#schema}.runs r SET status = 'running', reason = NULL, given_up = NULL, ended_at = NULL, failures = 0,
  deaths = least(deaths, ${SUSPECT_DEATHS}), early_deaths = 0, updated_at = now()
FROM letters WHERE r.run_id = letters.run_id RETURNING ${FREED}, r.job_id`,
        [ids],
      );
      for (const row of rows) await this.#jobs.wake(client, queuedRun(row));
      return rows.map(({ run_id }) => run_id);
    });
  }

  /** The tenants that have a limit. */
  async caps(): Promise<TenantCaps> {
    const rows = await this.#tables.query<{ tenant: string; cap: number }>(
      `SELECT tenant, cap FROM ${this.#schema}.tenants WHERE cap IS NOT NULL`,
      [],
    );
    return new Map(rows.map(({ tenant, cap }) => [tenant, cap]));
  }

  /** Limits how many runs of a tenant are driven at the same time; `null` for as many as there are slots. */
  async setCap(tenant: string, cap: number | null): Promise<void> {
    requireTenant(tenant);
    if (cap !== null && !(Number.isInteger(cap) && cap >= 0))
      throw new RangeError(`A cap must be a whole number from 0, got ${cap}.`);
    await this.#tables.transaction(async (client) => {
      await client.query(
        `INSERT INTO ${this.#schema}.tenants (tenant, cap) VALUES ($1, $2) ON CONFLICT (tenant) DO UPDATE SET cap = $2`,
        [tenant, cap],
      );
      await this.#recount(client, [{ tenant }]);
    });
  }

  /** What nobody has to wait for: the housekeeping of the queues, where who fetched a job and has not touched it for long has it no more; what is counted of tenants is set to what is there. */
  async tidy(): Promise<void> {
    await this.#jobs.tidy();
    const caps = await this.caps();
    const tenants = [...caps.keys()].map((tenant) => ({ tenant }));
    await this.#tables.transaction((client) => this.#recount(client, tenants));
  }

  /**
   * A claim or an end that is under way has the row of its tenant locked or has not counted itself yet: the count is of what was
   * committed when the lock was had, and the other one adds to it.
   */
  async #recount(client: ClientBase, rows: readonly { readonly tenant: string }[]): Promise<void> {
    const tenants = [...new Set(rows.map(({ tenant }) => tenant))];
    if (tenants.length === 0) return;
    const locked = `SELECT FROM ${this.#schema}.tenants WHERE tenant = ANY ($1) ORDER BY tenant FOR UPDATE`;
    const { rowCount } = await client.query(locked, [tenants]);
    if (rowCount === 0) return;
    await client.query(
      `UPDATE ${this.#schema}.tenants t SET running =
         (SELECT count(*) FROM ${this.#schema}.runs r WHERE r.tenant = t.tenant AND r.owner IS NOT NULL)
       WHERE t.tenant = ANY ($1)`,
      [tenants],
    );
  }
}

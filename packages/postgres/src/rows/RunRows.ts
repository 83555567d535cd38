// SQL of RunRows.

import type { RunRelease, RunSignal } from '@devs/core/internal';
import type { ClientBase } from 'pg';
import type { RunFiles } from '../files/RunFiles.ts';
import { type Jobs, MAX_DEATHS, type QueuedRun, queueName, SUSPECT_DEATHS, slotsOf } from '../jobs/Jobs.ts';
import { isDeadSql, toldChannel } from '../server/Owner.ts';
import type { ServerClock } from '../server/ServerClock.ts';
import type { Statement, Tables } from '../server/Tables.ts';
import { DIED, DIED_EARLY } from './deaths.ts';
import { eventRows, eventsSql, type GateEvent } from './gateEventRows.ts';
import { gateRows, gatesSql } from './gateRows.ts';
import { ENDED_SQL, indexValues } from './indexRow.ts';
import { insertLabelsSql, labelsJson } from './labelRows.ts';
import { lost } from './Shipper.ts';

/** A run whose newest epoch is the caller's. */
export interface RunClaim extends QueuedRun {
  readonly epoch: number;
  /** Of this claim alone: also a server that has lost the claim and counts anew knows it from the next one. */
  readonly lease: string;
  /** Age of its oldest unreceived signal, in seconds; `null` without one. */
  readonly toldSeconds: number | null;
  /** A timer woke it: timers of its file are due up to this time. `null` where it was woken otherwise. */
  readonly dueBy: number | null;
}

/** Who claims, and what with. */
export interface Claimer {
  readonly owner: string;
  /** The job that it was fetched with. */
  readonly jobId?: string | undefined;
  /** Whether the tenant's cap is obeyed. */
  readonly isCapped?: boolean | undefined;
  /** Whether it has nothing else in hand: who has takes no run that processes have died with. @defaultValue true */
  readonly isAlone?: boolean | undefined;
  /** The only graph whose run it takes. @defaultValue any */
  readonly graph?: string | undefined;
}

/**
 * Why a run was not claimed. It does not exist. It is of another graph. A newer release has its file. A live process has it. Its tenant has as many as it
 * may. Only an empty process may have it. It was given up, and a job is no reason to try it again.
 */
export type NotClaimed = 'unknown' | 'elsewhere' | 'newer' | 'busy' | 'full' | 'suspect' | 'given up';

/** Where a run stands when it is let go of. */
export interface RowSettlement {
  readonly end: RunRelease;
  /** Of the last change that has arrived: another one there is not from here. */
  readonly head: number;
  /** Of the last change that was made: above {@link head} where the base has it. */
  readonly seq: number;
  /** Events of a base that has more than has arrived. */
  readonly events: readonly GateEvent[];
  /** Of what it was told and has taken. */
  readonly taken: number;
  /** Of the file. */
  readonly fileBytes: number;
  /** To be put in the place of the changes, packed; `null` where they are few. */
  readonly base: Uint8Array | null;
}

interface ClaimRow {
  readonly not: NotClaimed | null;
  readonly epoch: string | null;
  readonly queue: string;
  readonly tenant: string;
  readonly priority: number;
  readonly deaths: number;
  readonly told_seconds: number | null;
  readonly slots: number;
  readonly due_by: number | null;
}

/** A run that was let go of. */
interface LeftRow {
  readonly deaths: number;
  readonly slots: number;
}

/** Nobody has to tell these something for them to go on. */
const DUE: ReadonlySet<string> = new Set(['created', 'running']);

/** The rows of runs: who has one, where it stands, what it was told: `runs`, `signals`, `gates`, `tenants`. */
export class RunRows {
  readonly #tables: Tables;
  readonly #files: RunFiles;
  readonly #jobs: Jobs;
  readonly #clock: Pick<ServerClock, 'now'>;
  readonly #sql: Readonly<
    Record<'claim' | 'begin' | 'tell' | 'settle' | 'settleWhole' | 'remove' | 'free' | 'signals', Statement>
  >;

  constructor(
    tables: Tables,
    files: RunFiles,
    { jobs, clock }: { readonly jobs: Jobs; readonly clock: Pick<ServerClock, 'now'> },
  ) {
    const { schema } = tables;
    this.#tables = tables;
    this.#files = files;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#sql = {
      claim: tables.statement('claim', claimSql(schema)),
      begin: tables.statement('begin', beginSql(schema)),
      tell: tables.statement('tell', tellSql(schema)),
      settle: tables.statement('settle', settleSql(schema, jobs.doneSql(QUEUE))),
      settleWhole: tables.statement(
        'settle_whole',
        settleSql(schema, jobs.doneSql(QUEUE), `, ${files.baseSql(IN_MS + 1)}`),
      ),
      remove: tables.statement('remove', removeSql(schema)),
      free: tables.statement('free', freeSql(schema)),
      signals: tables.statement('signals', signalsSql(schema)),
    };
  }

  /**
   * Makes the caller the one who may change a run that nobody has, or one who is dead: what had arrived until then is all that it has.
   * One that he has himself is his anew: he knows whether he still works on it.
   *
   * @param lease - Of this claim alone: known to whoever compares leases before the row has it.
   */
  async claim(
    { runId, lease }: Pick<RunClaim, 'runId' | 'lease'>,
    { owner, jobId, isCapped = false, isAlone = true, graph }: Claimer,
    schemaVersion: number,
  ): Promise<RunClaim | NotClaimed> {
    const values = [runId, owner, lease, jobId ?? null, schemaVersion, isCapped, isAlone, graph ?? null];
    const [row] = await this.#tables.query<ClaimRow>(this.#sql.claim, values);
    if (row === undefined) return 'unknown';
    const { not, epoch, told_seconds: toldSeconds, due_by: dueBy, ...run } = row;
    return not ?? { runId, lease, epoch: Number(epoch), toldSeconds, dueBy, ...run };
  }

  /**
   * Says that a run is begun that processes have died with: a death counts from here on. A first one counts without it, as those
   * runs say nothing more than they have to.
   */
  async begin({ runId, lease, deaths }: RunClaim): Promise<void> {
    if (deaths > 0) await this.#tables.query(this.#sql.begin, [runId, lease]);
  }

  /** What a run was told after `seq`, oldest first, and the number of the last. */
  async signals(
    runId: string,
    seq: number,
  ): Promise<{ readonly last: number; readonly signals: readonly RunSignal[] }> {
    const values = [runId, seq];
    const rows = await this.#tables.query<{ seq: string; signal: string }>(this.#sql.signals, values);
    return {
      last: Number(rows.at(-1)?.seq ?? seq),
      signals: rows.map(({ signal }) => JSON.parse(signal) as RunSignal),
    };
  }

  /** Records what a run is told by who knew all it was told up to `seen`, closes its question, and has it driven, in one transaction. */
  async tell(runId: string, signal: RunSignal, seen: number): Promise<boolean> {
    const closes = signal.kind === 'decision' && signal.closes;
    const [session, hash] = closes ? [signal.sessionId, signal.artifactHash] : [null, null];
    const values = [runId, seen, signal.id, JSON.stringify(signal), session, hash];
    return this.#tables.transaction(async (client, undo) => {
      const { rows } = await client.query<Omit<QueuedRun, 'runId'>>({ ...this.#sql.tell, values });
      const [run] = rows;
      if (run === undefined) return undo(await this.#isTold(client, runId, signal.id));
      await this.#jobs.wake(client, { runId, ...run });
      await client.query('SELECT pg_notify($1, $2)', [toldChannel(this.#tables.schemaName), runId]);
      return true;
    });
  }

  /** Whether that was said already: the answer was lost, or somebody says it again. */
  async #isTold(client: ClientBase, runId: string, id: string): Promise<boolean> {
    const sql = `SELECT 1 FROM ${this.#tables.schema}.signals WHERE run_id = $1 AND id = $2`;
    return (await client.query(sql, [runId, id])).rowCount === 1;
  }

  /**
   * Lets go of a run as it stands, in one transaction with its index, its job and its timer.
   *
   * @returns `again` if the run has a signal that its holder has not taken, `grown` if its holder sent a change after `head`.
   *   Then the run stays as it was.
   * @throws DevsError `LEASE_LOST`, `STATE_IO`
   */
  async settle(claim: RunClaim, settlement: RowSettlement): Promise<'settled' | 'again' | 'grown'> {
    const { end, head, base } = settlement;
    const next = end.queue === undefined ? claim : { ...claim, queue: queueName(end.queue) };
    await this.#tables.insist(() => this.#jobs.openQueue(next.queue));
    const file = base === null ? null : this.#files.baseOf({ ...claim, seq: settlement.seq, bytes: base });
    const given = settleValues(claim, settlement, next.queue);
    // As long as it is from now: it may have taken a while to be asked.
    const inMs = () => (end.until === null ? null : Math.max(0, end.until - this.#clock.now()));
    const values = () => [...given, inMs(), ...(file?.values ?? [])];
    const statement = this.#sql[file === null ? 'settle' : 'settleWhole'];
    const rest = file?.rest ?? null;
    const isDue = DUE.has(end.status);
    if (rest === null && !isDue) {
      const rows = await this.#tables.query<LeftRow>(statement, values);
      return rows.length > 0 ? 'settled' : this.#whyNotSettled(claim, head);
    }
    const isSettled = await this.#tables.transaction(async (client) => {
      const { rows } = await client.query<LeftRow>({ ...statement, values: values() });
      const [row] = rows;
      if (row === undefined) return false;
      await rest?.(client);
      if (isDue) await this.#jobs.wake(client, { ...next, deaths: row.deaths, slots: row.slots });
      return true;
    });
    return isSettled ? 'settled' : this.#whyNotSettled(claim, head);
  }

  async #whyNotSettled({ runId, lease }: RunClaim, head: number): Promise<'settled' | 'again' | 'grown'> {
    const [row] = await this.#tables.query<{ lease: string; settled: string; head_seq: string }>(
      `SELECT lease, settled, head_seq FROM ${this.#tables.schema}.runs WHERE run_id = $1`,
      [runId],
    );
    if (row?.settled === lease) return 'settled'; // the answer to it was lost
    if (row?.lease !== lease || Number(row.head_seq) < head) throw lost({ runId });
    return Number(row.head_seq) > head ? 'grown' : 'again';
  }

  /**
   * Deletes a run that goes on elsewhere. False, and nothing is changed, where it was told something that it has not taken.
   *
   * @throws DevsError `LEASE_LOST`; `CONFIG_INVALID` for a role that may not.
   */
  async remove(claim: RunClaim, { seq, taken }: Pick<RowSettlement, 'seq' | 'taken'>): Promise<boolean> {
    const values = [claim.runId, claim.lease, seq, taken];
    return this.#tables.transaction(async (client) => {
      const { rowCount } = await client.query({ ...this.#sql.remove, values });
      if (rowCount === 0) return this.#isGone(client, claim, seq);
      await this.#jobs.forget(client, [claim.runId]);
      return true;
    });
  }

  async #isGone(client: ClientBase, { runId, lease }: RunClaim, seq: number): Promise<boolean> {
    const sql = `SELECT lease, head_seq FROM ${this.#tables.schema}.runs WHERE run_id = $1`;
    const { rows } = await client.query<{ lease: string; head_seq: string }>(sql, [runId]);
    const [row] = rows;
    if (row === undefined) return true; // the answer to it was lost
    if (row.lease !== lease || Number(row.head_seq) !== seq) throw lost({ runId });
    return false;
  }

  /** Lets go of a run that was not settled, and has it driven by who comes next. */
  async free({ lease, ...run }: RunClaim): Promise<void> {
    await this.#tables.transaction(async (client) => {
      const { rows } = await client.query<LeftRow & { readonly job_id: string | null }>({
        ...this.#sql.free,
        values: [run.runId, lease],
      });
      const [freed] = rows;
      if (freed !== undefined && freed.job_id === null)
        await this.#jobs.wake(client, { ...run, deaths: freed.deaths, slots: freed.slots });
    });
  }
}

/** How long what a run has taken is known to be told: who did not hear that it was says it again until then. */
const KNOWN_AFTER = '1 hour';
/** Of what was taken by any run, with one that is let go of: more than one is told meanwhile. */
const SWEPT = 100;

const claimSql = (schema: string): string => `
WITH run AS (
  SELECT *, CASE
    WHEN graph <> $8 THEN 'elsewhere'
    WHEN schema_version > $5 THEN 'newer'
    WHEN owner <> $2 AND NOT coalesce((SELECT ${isDeadSql('w')} FROM ${schema}.workers w WHERE w.worker_id = owner), true) THEN 'busy'
    WHEN NOT $7 AND (died >= ${SUSPECT_DEATHS} OR slots > 1) THEN 'suspect'
    WHEN $4::uuid IS NOT NULL AND (died >= ${MAX_DEATHS} OR given_up IS NOT NULL) THEN 'given up'
  END AS refused
  FROM (
    SELECT *, CASE WHEN owner <> $2 THEN ${DIED} ELSE deaths END AS died,
      CASE WHEN owner <> $2 THEN ${DIED_EARLY} ELSE early_deaths END AS died_early
    FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE
  ) found
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running + 1 FROM run
  WHERE t.tenant = run.tenant AND run.refused IS NULL AND run.owner IS NULL
    AND (NOT $6 OR t.cap IS NULL OR t.running < t.cap)
  RETURNING t.tenant
), claimed AS (
  UPDATE ${schema}.runs r SET epoch = r.epoch + 1, owner = $2, lease = $3::uuid, job_id = $4::uuid,
    deaths = run.died, early_deaths = run.died_early, begun = (run.died = 0), schema_version = $5, claimed_at = now(), updated_at = now()
  FROM run WHERE r.run_id = run.run_id AND run.refused IS NULL
    AND (run.owner IS NOT NULL OR EXISTS (SELECT 1 FROM room)
      OR NOT EXISTS (SELECT 1 FROM ${schema}.tenants t WHERE t.tenant = run.tenant))
  RETURNING r.epoch
)
SELECT CASE WHEN refused IS NOT NULL THEN refused WHEN claimed.epoch IS NULL THEN 'full' END AS not,
  claimed.epoch, queue, tenant, priority, died AS deaths, slots, CASE WHEN until IS NULL THEN due_by END AS due_by,
  (SELECT extract(epoch FROM now() - min(s.created_at))::float8 FROM ${schema}.signals s
    WHERE s.run_id = run.run_id AND s.seq > run.handled_seq) AS told_seconds
FROM run LEFT JOIN claimed ON true`;

const beginSql = (schema: string): string =>
  `UPDATE ${schema}.runs SET begun = true WHERE run_id = $1 AND lease = $2::uuid`;

const tellSql = (schema: string): string => `
WITH told AS (
  UPDATE ${schema}.runs SET wake_seq = wake_seq + 1, updated_at = now() WHERE run_id = $1 AND wake_seq = $2
  RETURNING run_id, wake_seq, queue, tenant, priority, deaths, slots
), decided AS (
  UPDATE ${schema}.gates g SET status = 'decided', decided_at = now() FROM told
  WHERE g.session_id = $5 AND g.run_id = told.run_id AND g.artifact_hash = $6 AND g.status = 'open'
  RETURNING g.session_id
), recorded AS (
  INSERT INTO ${schema}.signals (run_id, seq, id, signal)
  SELECT run_id, wake_seq, $3, $4 FROM told WHERE $5::text IS NULL OR EXISTS (SELECT 1 FROM decided)
  ON CONFLICT DO NOTHING RETURNING run_id
)
SELECT queue, tenant, priority, deaths, slots FROM told JOIN recorded USING (run_id)`;

const signalsSql = (schema: string): string =>
  `SELECT seq, signal FROM ${schema}.signals WHERE run_id = $1 AND seq > $2 ORDER BY seq`;

const settleValues = (
  { runId, lease, queue }: RunClaim,
  { end, head, seq, taken, events, base, fileBytes }: RowSettlement,
  next: string,
): readonly unknown[] => {
  const at = [runId, lease, seq, taken, ...indexValues(end), head, base !== null];
  const gates = [gateRows([{ runId, gates: end.gates }]), eventRows([{ runId, events }]) ?? '[]'];
  const queued = [end.queue?.graph ?? null, end.queue?.fingerprint ?? null, next, queue];
  return [...at, ...gates, ...queued, labelsJson(end), end.until, slotsOf(fileBytes), end.openChildren ?? 0];
};

/** Of {@link settleValues}, and the number of the value behind them: when the run goes on, ms from now. */
const [QUEUE, IN_MS] = ['$16', 21];

/**
 * The server counts the time until it goes on, from now. By the clock of its file that time is `due_by`. The driver that is woken
 * fires timers up to then, also with a slower clock.
 *
 * A timer is a column with an index, not a job: thousands of gates have a deadline, and a fetch reads every job that is not due.
 *
 * @param parts - More of the `WITH`, from `, ` on.
 */
const settleSql = (schema: string, doneSql: string, parts = ''): string => `
WITH held AS (
  UPDATE ${schema}.runs r SET status = $5, reason = $6, title = $7, view = $8, handled_seq = $4, settled = lease,
    owner = NULL, lease = NULL, job_id = NULL, until = clock_timestamp() + interval '1 ms' * $${IN_MS}::float8, due_by = $18::float8,
    slots = $19::int, head_seq = $3::bigint, base_seq = CASE WHEN $10 THEN $3::bigint ELSE base_seq END, listed_seq = $3::bigint,
    updated_at = now(), graph = coalesce($13, graph), fingerprint = coalesce($14, fingerprint), queue = $15,
    ended_at = CASE WHEN $5 IN ${ENDED_SQL} THEN CASE WHEN listed_seq = $3::bigint THEN coalesce(ended_at, now()) ELSE now() END END,
    given_up = CASE WHEN $5 = 'dead_letter' THEN coalesce(given_up, now()) END, failures = 0,
    labels = CASE WHEN relabelled THEN labels ELSE $17 END, open_children = $20::int
  FROM (SELECT run_id, job_id AS job, labels AS known FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE) was
  WHERE r.run_id = was.run_id AND r.lease = $2::uuid AND r.head_seq = $9::bigint AND r.wake_seq = $4::bigint
  RETURNING r.run_id, r.tenant, r.created_at, r.deaths, r.slots, true AS has_gates, was.job,
    r.relabelled OR was.known IS NOT DISTINCT FROM $17 AS is_labelled
), ${gatesSql(schema, { json: '$11', reopens: true })}, ${eventsSql(schema, '$12')}, ${insertLabelsSql(schema, '$17')}, taken AS (
  UPDATE ${schema}.signals s SET taken_at = now() FROM held WHERE s.run_id = held.run_id AND s.taken_at IS NULL
), swept AS (
  DELETE FROM ${schema}.signals WHERE (run_id, seq) IN (
    SELECT run_id, seq FROM ${schema}.signals WHERE taken_at < now() - interval '${KNOWN_AFTER}'
    LIMIT ${SWEPT} FOR UPDATE SKIP LOCKED
  ) AND EXISTS (SELECT 1 FROM held)
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running - 1 FROM held WHERE t.tenant = held.tenant
), ${doneSql}${parts}
SELECT deaths, slots FROM held`;

const removeSql = (schema: string): string => `
WITH gone AS (
  DELETE FROM ${schema}.runs WHERE run_id = $1 AND lease = $2::uuid AND head_seq = $3::bigint AND wake_seq = $4::bigint
  RETURNING tenant
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running - 1 FROM gone WHERE t.tenant = gone.tenant
)
SELECT tenant FROM gone`;

const freeSql = (schema: string): string => `
WITH held AS (
  UPDATE ${schema}.runs r SET owner = NULL, lease = NULL, job_id = NULL, updated_at = now()
  FROM (SELECT run_id, job_id AS job FROM ${schema}.runs WHERE run_id = $1 FOR UPDATE) was
  WHERE r.run_id = was.run_id AND r.lease = $2::uuid
  RETURNING r.tenant, r.deaths, r.slots, was.job
), room AS (
  UPDATE ${schema}.tenants t SET running = t.running - 1 FROM held WHERE t.tenant = held.tenant
)
SELECT job AS job_id, deaths, slots FROM held`;

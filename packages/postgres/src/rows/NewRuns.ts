// SQL of new runs.

import { createHash, randomUUID } from 'node:crypto';
import type { Runs } from '@devs/core';
import { hasEnded, type NewRun } from '@devs/core/internal';
import type { NewFile, RunFiles } from '../files/RunFiles.ts';
import { type Jobs, type QueuedRun, queueName, slotsOf } from '../jobs/Jobs.ts';
import type { Statement, Tables } from '../server/Tables.ts';
import { GraphQueues } from './GraphQueues.ts';
import { gateRows, gatesSql } from './gateRows.ts';
import { ENDED_SQL, indexValues } from './indexRow.ts';
import { insertLabelsSql, labelsJson } from './labelRows.ts';

/** A new run without a file. */
export type NewRunStart = Parameters<NonNullable<Runs['start']>>[0];

/** How a new run is recorded. */
interface RecordedAs {
  readonly schemaVersion: number;
  readonly isDue: boolean;
  readonly slots: number;
  readonly file: NewFile;
}

/**
 * Records new runs: the row, what it is listed by, its file and its job are one statement, so that whoever starts a run waits for one
 * answer. Only a file of more than one part takes more.
 */
export class NewRuns {
  readonly #tables: Tables;
  readonly #files: RunFiles;
  readonly #jobs: Jobs;
  readonly #graphs: GraphQueues;
  /** By text: there are a few for each queue. */
  readonly #statements = new Map<string, Statement>();

  constructor(tables: Tables, files: RunFiles, jobs: Jobs) {
    this.#tables = tables;
    this.#files = files;
    this.#jobs = jobs;
    this.#graphs = new GraphQueues(tables);
  }

  /** Records a run and has it driven. False where there is one of that id: it stays as it is. */
  async create(run: NewRun, schemaVersion: number): Promise<boolean> {
    const { id: runId, tenant = 'default', index, isDue = true } = run;
    const bytes = await this.#files.packed(run.file, tenant);
    return this.#record(run, {
      ...{ schemaVersion, isDue: isDue && !hasEnded(index.status), slots: slotsOf(run.file.length) },
      file: this.#files.baseOf({ runId, seq: 0, bytes }),
    });
  }

  /** The same without a file: each look makes a copy, the first driver the file itself. */
  async start(run: NewRunStart, schemaVersion: number): Promise<boolean> {
    const { tenant = 'default', start } = run;
    const file = await this.#files.newStart(start, tenant);
    return this.#record(run, { schemaVersion, isDue: true, slots: slotsOf(start.length), file });
  }

  async #record(run: Omit<NewRunStart, 'start'>, as: RecordedAs): Promise<boolean> {
    const { id: runId, tenant = 'default', priority = 0 } = run;
    const queued = { runId, tenant, priority, queue: queueName(run.queue), deaths: 0, slots: as.slots };
    await this.#tables.insist(() => this.#jobs.openQueue(queued.queue));
    await this.#graphs.note(run.queue);
    const birth = randomUUID();
    const { statement, values } = await this.#recording(run, { ...as, queued, birth });
    const { rest } = as.file;
    if (rest === null) {
      const made = await this.#tables.query(statement, values);
      return made.length > 0 || this.#isBorn(runId, birth);
    }
    const isMade = await this.#tables.transaction(async (client) => {
      const { rowCount } = await client.query({ ...statement, values });
      if (rowCount !== 0) await rest(client);
      return rowCount !== 0;
    });
    return isMade || this.#isBorn(runId, birth);
  }

  async #recording(
    { queue, index }: Omit<NewRunStart, 'start'>,
    { schemaVersion, isDue, file, queued, birth }: RecordedAs & { queued: QueuedRun; birth: string },
  ): Promise<{ readonly statement: Statement; readonly values: unknown[] }> {
    const { schema } = this.#tables;
    const { runId, tenant, priority, slots } = queued;
    const values: unknown[] = [runId, birth, tenant, queue.graph, queue.fingerprint, queued.queue];
    values.push(schemaVersion, priority, ...indexValues(index), labelsJson(index), slots);
    const parts = [insertLabelsSql(schema, '$13'), file.sql(values.length + 1)];
    values.push(...file.values);
    if (index.gates.length > 0) {
      const json = `$${values.push(gateRows([{ runId, gates: index.gates }]))}`;
      parts.push(gatesSql(schema, { json, reopens: true }));
    }
    if (isDue) {
      const wake = await this.#jobs.wakeNew(queued, values.length + 1);
      parts.push(wake.sql);
      values.push(...wake.values);
    }
    return { statement: this.#statement(createSql(schema, parts, isDue)), values };
  }

  #statement(text: string): Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const statement = this.#tables.statement(`create_${digest}`, text);
    this.#statements.set(text, statement);
    return statement;
  }

  /** Whether the run that is there is the one that was created here: the answer was lost. */
  async #isBorn(runId: string, birth: string): Promise<boolean> {
    const sql = `SELECT 1 FROM ${this.#tables.schema}.runs WHERE run_id = $1 AND birth = $2`;
    return (await this.#tables.query(sql, [runId, birth])).length === 1;
  }
}

/** @param parts - Of the `WITH`, for the run in `held`, which is empty where the id is known. */
const createSql = (schema: string, parts: readonly string[], isDue: boolean): string => `
WITH held AS (
  INSERT INTO ${schema}.runs
    (run_id, birth, tenant, graph, fingerprint, queue, schema_version, priority, status, reason, title, view, ended_at, labels,
     slots)
  SELECT $1, $2::uuid, $3, $4, $5, $6, $7::int, $8::int, $9::text, $10, $11, $12, CASE WHEN $9 IN ${ENDED_SQL} THEN now() END, $13,
    $14::int
  WHERE NOT EXISTS (SELECT FROM ${schema}.runs_not_kept k WHERE k.run_id = $1 AND k.forget_at > now())
  ON CONFLICT DO NOTHING
  RETURNING run_id, tenant, created_at, true AS has_gates, false AS is_labelled
), ${parts.join(', ')}
SELECT run_id${isDue ? ', (SELECT count(*) FROM notified)' : ''} FROM held`;

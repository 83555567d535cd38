import type { RunInfo, Runs } from '@devs/core';
import { listedGate, pages, runQueryOf } from '@devs/core/internal';
import type { Tables } from '../server/Tables.ts';
import { labelConditions, labelsJson, labelsOfRow, lockLabelsSql, replaceLabelsSql } from './labelRows.ts';
import { getSql, hasEachStatus, listSql, ORDER } from './listSql.ts';

interface RunRow {
  readonly run_id: string;
  readonly status: RunInfo['status'];
  readonly reason: string | null;
  readonly fingerprint: string;
  readonly is_driven: boolean;
  readonly is_due: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly ended_at: Date | null;
  readonly labels: string | null;
}

interface IndexRow extends Pick<RunRow, 'run_id' | 'status' | 'reason' | 'created_at' | 'labels'> {
  readonly title: string | null;
  readonly is_now: boolean;
  readonly view: string;
  readonly gates: readonly string[];
}

/** In which PostgreSQL can say a time, ms since the Unix epoch. */
const [FIRST_MS, LAST_MS] = [Date.UTC(1970), Date.UTC(9999)];

const clamped = (ms: number): Date => new Date(Math.min(Math.max(ms, FIRST_MS), LAST_MS));

/** Runs and questions of all runs, from what their rows say of them: no file is opened. */
export class RunLists {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** @throws RangeError for a bad filter; DevsError `STATE_IO` */
  async list(filter: NonNullable<Parameters<Runs['list']>[0]>): ReturnType<Runs['list']> {
    const query = runQueryOf(filter);
    const { schema } = this.#tables;
    const values: unknown[] = [
      clamped(query.since),
      clamped(query.before.at),
      query.before.id,
      query.limit + 1,
    ];
    const isOfLabels = query.graph === null && hasEachStatus(query);
    const ofLabel = isOfLabels ? `${PLACE} ${ORDER} LIMIT $4` : '';
    const ofGraph = graphCondition(query.graph, values);
    const conditions = `${PLACE}${ofGraph}${labelConditions(schema, filter, values, ofLabel)}`;
    const sql = listSql(schema, query, { conditions, limit: '$4' });
    const rows = await this.#tables.query<RunRow>(sql, values);
    const found = rows.map((row) => ({ row, at: row.created_at.getTime(), id: row.run_id }));
    const { items, next } = pages.of(found, query.limit, ({ at, id }) => ({ at, id }));
    return { runs: items.map(({ row }) => runRowSummary(row)), next };
  }

  /** @throws DevsError `STATE_IO` */
  async get(id: string): ReturnType<Runs['get']> {
    const [row] = await this.#tables.query<RunRow>(getSql(this.#tables.schema), [id]);
    return row === undefined ? null : runRowSummary(row);
  }

  /** Changes the metadata that a run is found by. False for an unknown id. @throws DevsError `STATE_IO` */
  async updateMetadata(id: string, patch: RunInfo['metadata']): Promise<boolean> {
    const { schema } = this.#tables;
    return this.#tables.transaction(async (client) => {
      const { rows } = await client.query<{ labels: string | null }>(lockLabelsSql(schema), [id]);
      const [row] = rows;
      if (row === undefined) return false;
      const labels = pages.patchedLabels(labelsOfRow(row.labels), patch);
      await client.query(replaceLabelsSql(schema), [id, labelsJson(labels)]);
      return true;
    });
  }

  /** What is kept of a run's file counts as long as nobody drives it, or has told it something. @throws DevsError `STATE_IO` */
  async indexed(ids: readonly string[]): ReturnType<Runs['indexed']> {
    const rows = await this.#tables.query<IndexRow>(indexSql(this.#tables.schema), [[...new Set(ids)]]);
    return new Map(
      rows.map(({ run_id, created_at, is_now, view, gates, labels, ...index }) => [
        run_id,
        {
          createdAt: created_at.getTime(),
          index: is_now
            ? { ...index, view: JSON.parse(view), gates: gates.map(listedGate), ...labelsOfRow(labels) }
            : null,
        },
      ]),
    );
  }

  async countGates(): Promise<number> {
    const sql = `SELECT count(*) AS n FROM ${this.#tables.schema}.gates WHERE status = 'open'`;
    const [row] = await this.#tables.query<{ n: string }>(sql, []);
    return Number(row?.n ?? 0);
  }

  /** @throws RangeError for a bad page; DevsError `STATE_IO` */
  async gates({
    limit: wanted,
    after,
    ...filter
  }: NonNullable<Parameters<Runs['gates']>[0]>): ReturnType<Runs['gates']> {
    const limit = pages.limit(wanted);
    const { at, id } = pages.place(after) ?? { at: FIRST_MS, id: '' };
    const { schema } = this.#tables;
    const values: unknown[] = [clamped(at), id, limit + 1];
    const rows = await this.#tables.query<{ gate: string }>(
      `SELECT gate FROM ${schema}.gates
       WHERE status = 'open' AND (opened_at, session_id) > ($1, $2)${labelConditions(schema, filter, values)}
       ORDER BY opened_at, session_id LIMIT $3`,
      values,
    );
    const found = rows.map(({ gate }) => listedGate(gate));
    const { items, next } = pages.of(found, limit, (gate) => ({
      at: Date.parse(gate.openedAt),
      id: gate.sessionId,
    }));
    return { gates: items, next };
  }

  /** @throws RangeError for a cursor that was not given out here; DevsError `STATE_IO` */
  async gateEvents({ after, limit }: Parameters<Runs['gateEvents']>[0]): ReturnType<Runs['gateEvents']> {
    const position = pages.position(after);
    const { schema } = this.#tables;
    const rows = await this.#tables.query<{ position: string; event: string }>(
      `SELECT position, event FROM ${schema}.gate_events WHERE position > $1 ORDER BY position LIMIT $2`,
      [position, limit],
    );
    if (rows.length === 0 && position > 0) await this.#assertGivenOut(position);
    return rows.map(({ position: cursor, event }) => ({ ...parsedEvent(event), cursor }));
  }

  async #assertGivenOut(position: number): Promise<void> {
    const sql = `SELECT position FROM ${this.#tables.schema}.gate_event_count`;
    const [row] = await this.#tables.query<{ position: string }>(sql, []);
    if (position > Number(row?.position ?? 0)) throw pages.unknownCursor();
  }

  async runOfGate(sessionId: string): Promise<string | null> {
    const sql = `SELECT run_id FROM ${this.#tables.schema}.gates WHERE session_id = $1`;
    const [row] = await this.#tables.query<{ run_id: string }>(sql, [sessionId]);
    return row?.run_id ?? null;
  }
}

type GateEvent = Awaited<ReturnType<Runs['gateEvents']>>[number];

const parsedEvent = (event: string): GateEvent => JSON.parse(event) as GateEvent;

/** As `listSql` has it in {@link RunLists.list}. */
const PLACE = ' AND created_at >= $1 AND (created_at, run_id) < ($2, $3)';

/** The index has the beginning of a fingerprint, as the names of queues do. */
function graphCondition(graph: string | null, values: unknown[]): string {
  if (graph === null) return '';
  const wanted = `$${values.push(graph)}::text`;
  return ` AND left(fingerprint, 16) = left(${wanted}, 16) AND fingerprint = ${wanted}`;
}

function runRowSummary(row: RunRow): RunInfo {
  const { run_id: id, status, reason, fingerprint: graph, is_driven: isDriven, is_due: isDue } = row;
  return {
    ...{ id, status, reason, graph, isDriven, isDue, ...labelsOfRow(row.labels) },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}

/** Nothing has come to the file since it was let go of: that is when `view` was written. */
const indexSql = (schema: string): string => `
SELECT run_id, created_at, status, reason, title, view, labels,
  owner IS NULL AND head_seq = listed_seq AND wake_seq = handled_seq AS is_now,
  ARRAY(SELECT gate FROM ${schema}.gates g WHERE g.run_id = r.run_id AND g.status = 'open' ORDER BY opened_at, session_id) AS gates
FROM ${schema}.runs r WHERE run_id = ANY ($1::text[])`;

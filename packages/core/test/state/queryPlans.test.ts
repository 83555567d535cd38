import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import * as prepared from '../../src/db/prepare.ts';
import { useSeals } from '../../src/state/rows/rows.ts';
import { test } from '../support/fixtures.ts';
import { everyStatement } from './everyStatement.ts';

const named = new Set<string>();
const { prepare } = prepared;

beforeEach(
  () =>
    void vi.spyOn(prepared, 'prepare').mockImplementation((db, sql) => {
      named.add(sql);
      return prepare(db, sql);
    }),
);
afterEach(() => void vi.restoreAllMocks());

const TABLES = path.resolve(import.meta.dirname, '../../src/state');

const VERIFIED = 'the log of decisions is verified as a whole when a file is opened';
const ALL_OF_RUN = 'a rare deed about one run as a whole: a prune, a removal, a fork, a report';
const NEW_DRIVER = 'once per run and process';
const FEW = 'what one visit, one gate or one page has';
const FAMILY = 'runs above, below or beside one another';

/** Which statements read rows that they do not answer with, or put rows in order, by a piece of their text; and why they may. */
const ALLOWED = {
  // Whole tables
  'FROM hitl_decisions ORDER BY seq ASC': VERIFIED,
  "WHERE decision_json IS NOT NULL OR status = 'decided'": VERIFIED,
  'SELECT sha256, text FROM decision_texts': VERIFIED,
  'SELECT sha256 FROM decision_texts':
    'a removed run takes its texts along unless another decision says the same',
  'FROM schema_migrations ORDER BY version': 'a row for each version of the tables',
  "question_json ->> '$.call' = ?": 'the few gates of one run that ask about tool calls',
  'FROM threads ORDER BY created_at DESC': 'every run, because every run was asked for',
  'FROM threads WHERE thread_id <> ?': 'every other run of a file, because one is taken out of it',
  "status = 'awaiting_approval' AND thread_id IS NOT NULL ORDER BY id": 'those of a file that one run has',
  'ORDER BY (SELECT created_at FROM threads WHERE': 'puts the gates in order that are shown',
  'SELECT 1 FROM threads WHERE recoveries = 0': 'a file that is handed out has one run',
  'WHERE @deaths > 0 OR recoveries > 0': 'a file that is handed out has one run',
  'SELECT count(*) FROM threads': 'who is asked whose a file is, is told how many runs are in it',
  'count(*) AS runs FROM threads GROUP BY status':
    'an entry of an index for each run, once a minute, for metrics',
  'SELECT 1 FROM "': 'the first row of each table: whether anything is in a file',
  "FROM sqlite_sequence WHERE name = 'gate_events'": 'a row for each table that counts its rows',
  'FROM webhook_deliveries ORDER BY position, target LIMIT':
    'all that was not delivered, because it was asked for',
  'FROM schedules WHERE @graph IS NULL OR graph = @graph ORDER BY id': 'a row for each schedule',
  // Sorted
  'WITH latest (seq) AS MATERIALIZED': FEW,
  'FROM agent_steps WHERE thread_id = ? ORDER BY': ALL_OF_RUN,
  "AND state = 'intent' AND started_at >= ? ORDER BY": 'what a driven run does now, for who looks at it',
  'SELECT seq, sha256 FROM checkpoints WHERE thread_id = ?': ALL_OF_RUN,
  "checkpoint_writes AS asked WHERE thread_id = @threadId AND channel = '__interrupt__'": ALL_OF_RUN,
  'FROM checkpoints WHERE thread_id = @threadId AND (@checkpointNs IS NULL': ALL_OF_RUN,
  'FROM rewinds WHERE thread_id = ?': ALL_OF_RUN,
  "name = 'NODE_FINISHED' GROUP BY node": ALL_OF_RUN,
  'GROUP BY task_path, channel': ALL_OF_RUN,
  'SELECT blob_id FROM checkpoint_blobs WHERE': ALL_OF_RUN,
  'GROUP BY checkpoint_ns ORDER BY seq': NEW_DRIVER,
  'SELECT channel, max(blob_id) FROM checkpoint_blobs': NEW_DRIVER,
  "WHERE status <> 'awaiting_approval' AND thread_id = ?": ALL_OF_RUN,
  '(suspended_at, id) > (@suspendedAt, @id)': 'those that were asked in one millisecond',
  "interrupt_id > 'carried/'": FEW,
  'FROM hitl_votes WHERE session_id = ?': FEW,
  'FROM signals INDEXED BY signals_unhandled': FEW,
  'FROM waits WHERE thread_id = @threadId': FEW,
  'FROM json_each(@statuses) AS wanted': FEW,
  'ORDER BY +run.created_at DESC': 'fewer than 1,000 runs whose ids begin alike',
  'FROM waits AS w INDEXED BY waits_by_due': 'what runs wait for, and runs that can go on',
  'SELECT DISTINCT subject AS id FROM waits': FAMILY,
  'WITH RECURSIVE above': FAMILY,
  'WITH RECURSIVE below': FAMILY,
} as const;

/** Texts in the sources that no file is asked here. */
const NOT_ASKED = ['UPDATE threads SET lease_owner = ? WHERE lease_owner IS NOT NULL'];

/** What every step, call, request or look reads, by a piece of its text, and what it has to find it by. */
const FOUND_BY = {
  'FROM signals INDEXED BY signals_unhandled': 'INDEX signals_unhandled (thread_id=? AND kind=?)',
  'FROM hitl_decisions AS line WHERE line.session_id = ?': 'INDEX hitl_decisions_by_session (session_id=?)',
  "principal_kind = 'human' LIMIT 1": 'INDEX hitl_sessions_by_human (thread_id=? AND checkpoint_id=?)',
  'AND kind = ? AND decision_json IS NOT NULL': 'INDEX hitl_sessions_answered (thread_id=? AND kind=?)',
  "status = 'awaiting_approval' AND thread_id = ? ORDER BY":
    'INDEX hitl_sessions_of_run (thread_id=? AND status=?)',
  "name IN ('GATE_SHOWN', 'RUN_SYNCED')": 'INDEX events_rare (thread_id=? AND name=?)',
  "FROM step_spending WHERE thread_id = ? AND task_id = ''": 'PRIMARY KEY (thread_id=?)',
  "spent.task_id = ''": 'COVERING INDEX agent_steps_in_flight (thread_id=? AND turn=?)',
  "AND kind = 'call' AND task_id = @taskId":
    'COVERING INDEX agent_steps_in_flight (thread_id=? AND turn=? AND task_id=?)',
  'FROM checkpoints WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs AND (@':
    'INDEX checkpoints_by_namespace (thread_id=? AND checkpoint_ns=?)',
  'WHERE (created_at, rowid) < (': 'INDEX threads_by_age (created_at<?)',
  "FROM hitl_sessions WHERE status = 'awaiting_approval' AND EXISTS": 'INDEX hitl_sessions_open (status=?)',
  'FROM hitl_sessions WHERE id >= @from AND id < @to':
    'INDEX sqlite_autoindex_hitl_sessions_1 (id>? AND id<?)',
  'FROM journal_values WHERE blob_id = @blobId': 'PRIMARY KEY (blob_id=?)',
  'waits_by_due CROSS JOIN threads AS t ON t.thread_id = w.thread_id WHERE t.status': 'INDEX threads_due',
} as const;

const ALWAYS_ONE_ROW = 'decision_log_end';

function planOf(sql: string, db: Database): readonly string[] {
  const explain = db.prepare<unknown[], { readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  return explain.all(...nothingFor(sql)).map(({ detail }) => detail);
}

/** The steps of a plan that look at a whole table, or have to put rows in order. */
function wasteIn(sql: string, db: Database): readonly string[] {
  return planOf(sql, db).filter(
    (detail) => detail.includes('TEMP B-TREE') || isWhole(/^SCAN (\w+)/.exec(detail)?.[1], sql, db),
  );
}

/** @param name - Of a table, or what the statement calls it. */
function isWhole(name: string | undefined, sql: string, db: Database): boolean {
  if (name === undefined || name === ALWAYS_ONE_ROW) return false;
  const table = new RegExp(`(\\w+) AS ${name}\\b`).exec(sql)?.[1] ?? name;
  const find = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  return find.get(table) !== undefined;
}

/** Nothing, for each parameter. */
function nothingFor(sql: string): readonly unknown[] {
  const code = sql.replaceAll(/'[^']*'/g, '');
  const named = [...code.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
  return named.length > 0 ? [Object.fromEntries(named)] : [...code.matchAll(/\?/g)].map(() => null);
}

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Statements in the sources of the tables, each up to what is put together only when it runs. */
function beginningsInSources(): readonly string[] {
  const files = readdirSync(TABLES, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.includes('__tests__'));
  return sources.flatMap((file) => {
    const source = readFileSync(path.join(TABLES, file), 'utf8').replaceAll(String.raw`\\`, '\\');
    const texts = source.matchAll(/([`'"])\s*((?:WITH|SELECT|INSERT|UPDATE|DELETE)\s[^`$]*?)(?:\1|\$\{)/g);
    return [...texts].map(([, , text = '']) => flat(text));
  });
}

test('no statement reads what it does not answer with, but for those that say why', async ({
  db,
  dbPath,
}) => {
  useSeals(db);
  const { ofRuns, ofExamination } = await everyStatement(path.join(path.dirname(dbPath), 'used'), named);

  const wasteful = ofRuns.filter((sql) => wasteIn(sql, db).length > 0).map(flat);
  const allowed = Object.keys(ALLOWED);
  expect(wasteful.filter((sql) => allowed.every((piece) => !sql.includes(piece)))).toEqual([]);
  expect(allowed.filter((piece) => wasteful.every((sql) => !sql.includes(piece)))).toEqual([]);

  const notFound = Object.entries(FOUND_BY).filter(([piece, place]) => {
    const asked = ofRuns.filter((sql) => flat(sql).includes(piece));
    return (
      asked.length === 0 || asked.some((sql) => planOf(sql, db).every((detail) => !detail.includes(place)))
    );
  });
  expect(notFound).toEqual([]);

  const all = [...ofRuns, ...ofExamination].map(flat).join('\n');
  const missing = beginningsInSources().filter((text) => !all.includes(text) && !NOT_ASKED.includes(text));
  expect(missing).toEqual([]);
});

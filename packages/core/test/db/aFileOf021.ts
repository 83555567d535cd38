import BetterSqlite3, { type Database } from 'better-sqlite3';
import { runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { canonicalJson, sha256Hex } from '../../src/values/canonicalJson.ts';

export const BEFORE_022 = MIGRATIONS.filter(({ version }) => version < 22);

export const INPUT = { brief: 'Größe — "quoted"\n' };
const INPUT_BASE64 = Buffer.from(JSON.stringify(INPUT)).toString('base64');

/** What the row of a run held besides its input. */
export const POLICIES = canonicalJson({ budget: { usd: 1.5 }, gates: { dag: 'human' }, title: 'A "ß"\n' });

const STATUSES = 'created running waiting paused completed failed cancelled dead_letter'.split(' ');
const SIGNALS = 'decision pause resume cancel rewind timeout'.split(' ');
const KINDS = 'design_approval dag_approval task_failure recursion_limit budget review node_gate'.split(' ');
const HASH = 'a'.repeat(64);

/** An empty state file as the engine before migration 022 made it. */
export function anEmptyFileOf021(dbPath: string): Database {
  const db = new BetterSqlite3(dbPath);
  db.pragma('journal_mode = WAL');
  db.pragma('foreign_keys = ON');
  runMigrations(db, BEFORE_022);
  return db;
}

export function insertThread021(db: Database, threadId: string, columns: Record<string, unknown> = {}): void {
  const policies = { ...JSON.parse(POLICIES), input: { type: 'json', bytes: INPUT_BASE64 } };
  insert(db, 'threads', {
    thread_id: threadId,
    project_id: threadId,
    graph_fingerprint: 'f',
    policies_json: canonicalJson(policies),
    created_at: 1,
    updated_at: 2,
    ...columns,
  });
}

/** Rows in every table, in an order that is not that of their ids. */
export function aFileOf021(dbPath: string): Database {
  const db = anEmptyFileOf021(dbPath);
  for (const [n, status] of STATUSES.entries()) {
    const lease = { lease_owner: '1:2', lease_epoch: n, lease_expires_mono: 5, lease_boot_id: 'b' };
    insertThread021(db, `run-${9 - n}`, {
      rowid: 10 * n + 3,
      status,
      reason: `because ${n}`,
      degraded: n % 2,
      ...lease,
    });
  }
  insertThread021(db, 'bare', { policies_json: '{"input":"x"}', brief_sha256: HASH, recoveries: 3 });
  for (const [n, kind] of SIGNALS.entries()) {
    const signal = {
      id: `s-${9 - n}`,
      thread_id: 'run-9',
      seq: n,
      kind,
      payload_json: '{"a" : 1}',
      created_at: n,
    };
    insert(db, 'signals', { rowid: 7 * n + 1, ...signal, consumed_at: n % 2 === 0 ? null : n });
  }
  for (const [n, state] of ['intent', 'done', 'undone'].entries()) {
    const json = { undone_json: '[]', before_json: '{ }' };
    const rewind = {
      id: `r-${9 - n}`,
      thread_id: 'run-8',
      target_task_id: 'T1',
      ...json,
      state,
      created_at: n,
    };
    insert(db, 'rewinds', { rowid: 5 * n + 2, ...rewind, ref_after: 'c', undone_at: n });
  }
  for (const [n, kind] of KINDS.entries()) insertDecided(db, n, kind);
  fillOthers(db);
  return db;
}

function insertDecided(db: Database, n: number, kind: string): void {
  const id = `session-${9 - n}`;
  const threadId = 'run-9';
  const decision = { approved: false, feedback: `No ${n}` };
  insert(db, 'hitl_sessions', {
    rowid: 11 * n + 4,
    id,
    task_id: 'T1',
    graph_state_json: '{ }',
    suspended_at: n,
    status: n % 2 === 0 ? 'decided' : 'resumed',
    kind,
    thread_id: threadId,
    interrupt_id: `i-${n}`,
    question_key: `k-${n}`,
    checkpoint_id: 'c',
    artifact_hash: HASH,
    question_json: '{"artifact" : "as it was written"}',
    evidence_json: '[1.0]',
    decision_json: canonicalJson(decision),
    principal_kind: 'human',
    principal_id: 'ada',
    decided_at: n,
    resumed_at: n,
  });
  const names = { sessionId: id, kind, threadId, taskId: 'T1', artifactHash: HASH };
  logLine021(db, id, { ...names, decision, principal: { kind: 'human', id: 'ada' }, decidedAt: n });
  const gate = {
    task_id: `T${n}`,
    entropy_score: 0.1 * n,
    triggered_at: n,
    session_id: id,
    reason: 'entropy_limit',
  };
  insert(db, 'hitl_failure_gates', { rowid: 3 * n + 5, id: `g-${9 - n}`, ...gate });
  const resolved = { resolved_at: n, resolution: 'retry' };
  insert(db, 'hitl_failure_gates_history', { rowid: 4 * n + 6, id: `h-${9 - n}`, ...gate, ...resolved });
}

/** A line of the decision log as the engine before migration 022 wrote it: with the texts in it. */
function logLine021(db: Database, sessionId: string, body: object): void {
  const last = db.prepare('SELECT seq, sha256 FROM hitl_decisions ORDER BY seq DESC LIMIT 1').get();
  const { seq, sha256: prev } = (last ?? { seq: 0, sha256: '0'.repeat(64) }) as {
    seq: number;
    sha256: string;
  };
  const body_json = canonicalJson(body);
  const sha256 = sha256Hex(prev + body_json);
  insert(db, 'hitl_decisions', { seq: seq + 1, session_id: sessionId, body_json, prev_sha256: prev, sha256 });
}

/** Tables that migration 022 does not make anew. */
function fillOthers(db: Database): void {
  const result = { state: 'done', result_json: '{ }', result_sha256: sha256Hex('{ }') };
  const step = { thread_id: 'run-9', lg_task_id: 'lg', node: 'n', started_at: 1, ...result };
  for (const name of ['b', 'a']) insert(db, 'agent_steps', { ...step, name, cost_usd: 0.25 });
  insert(db, 'events', { at: 1, name: 'RUN', payload_json: '{}' });
  insert(db, 'guard_firings', { thread_id: 'run-9', firing: 'x' });
  insert(db, 'driven_time', { thread_id: 'run-9', task_id: '', ms: 7 });
}

function insert(db: Database, table: string, row: Record<string, unknown>): void {
  const names = Object.keys(row);
  const values = names.map(() => '?').join(', ');
  db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values})`).run(...Object.values(row));
}

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, SqliteSaver } from '@devs/core';
import { tablesOf } from '../../../core/test/support/insides.ts';
import {
  type FileContent,
  NOTHING,
  type ObservedEvent,
  type ObservedSession,
  type ObservedStep,
  type Turn,
} from './Observation.ts';
import { RUN_ID } from './scenarios.ts';

type Database = ReturnType<typeof createDatabase>;

/**
 * Reads a state file nobody has open, from a copy of it and its write-ahead log: the next driver must find the file
 * as the dead one left it, and recover it itself.
 *
 * @param dir - The engine's folder.
 */
export async function observeFile(dir: string): Promise<FileContent> {
  if (!existsSync(join(dir, 'state.sqlite'))) return NOTHING.file;
  const copy = mkdtempSync(join(tmpdir(), 'devs-chaos-copy-'));
  try {
    for (const name of ['state.sqlite', `state.sqlite-wal`, `state.sqlite-journal`]) {
      if (existsSync(join(dir, name))) copyFileSync(join(dir, name), join(copy, name));
    }
    const db = createDatabase({ dbPath: join(copy, 'state.sqlite') });
    const content = await contentOf(db);
    db.close();
    return content;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function contentOf(db: Database): Promise<FileContent> {
  const thread = tablesOf(db).threads.get(RUN_ID);
  return {
    integrity: String(db.pragma('integrity_check', { simple: true })),
    decisionLog: decisionLogIn(db),
    turns: turnsIn(db),
    steps: stepsIn(db),
    sessions: sessionsIn(db),
    decisions: decisionsIn(db),
    events: eventsIn(db),
    status: thread?.status ?? 'created',
    goal: thread?.policies['goal'] ?? null,
    recoveries: thread?.recoveries ?? 0,
    ...(await checkpointsIn(db)),
  };
}

const turnsIn = (db: Database): readonly Turn[] =>
  db
    .prepare<[], Turn>(
      'SELECT id, turn_type AS turnType, visit, node_name AS node FROM langgraph_checkpoints ORDER BY rowid',
    )
    .all();

const stepsIn = (db: Database): readonly ObservedStep[] =>
  tablesOf(db)
    .steps.listForThread(RUN_ID)
    .map(({ threadId, lgTaskId, name, node, state, attempt }) => ({
      key: `${threadId}/${lgTaskId}/${name}`,
      visit: lgTaskId,
      label: `${node}/${name}`,
      state,
      attempt,
    }));

const sessionsIn = (db: Database): readonly ObservedSession[] =>
  db
    .prepare<[], ObservedSession>(
      `SELECT id, kind, status, question_key AS questionKey, interrupt_id AS interruptId
       FROM hitl_sessions ORDER BY rowid`,
    )
    .all();

const decisionsIn = (db: Database): readonly string[] =>
  db.prepare<[], string>('SELECT session_id FROM hitl_decisions ORDER BY seq').pluck().all();

/** Each line holds the SHA-256 of the line before and its own body; computed here anew. */
function decisionLogIn(db: Database): string {
  const lines = db
    .prepare<[], { readonly seq: number; readonly body: string; readonly sha256: string }>(
      'SELECT seq, body_json AS body, sha256 FROM hitl_decisions ORDER BY seq',
    )
    .all();
  let previous = '0'.repeat(64);
  for (const { seq, body, sha256 } of lines) {
    previous = createHash('sha256')
      .update(previous + body)
      .digest('hex');
    if (sha256 !== previous) return `line ${seq} does not fit the one before`;
  }
  return 'ok';
}

const eventsIn = (db: Database): readonly ObservedEvent[] =>
  db
    .prepare<[], { readonly name: string; readonly payload: string }>(
      'SELECT name, payload_json AS payload FROM events ORDER BY seq',
    )
    .all()
    .map(({ name, payload }) => ({ name, payload: JSON.parse(payload) as unknown }));

/** LangGraph's channels for what happened to a task; writes to any other are its output. */
const CONTROL: ReadonlySet<string> = new Set([
  '__interrupt__',
  '__error__',
  '__error_source_node__',
  '__resume__',
]);

async function checkpointsIn(
  db: Database,
): Promise<Pick<FileContent, 'checkpoints' | 'interrupts' | 'outputs'>> {
  const checkpoints: string[] = [];
  const interrupts = new Map<string, string>();
  const outputs = new Set<string>();
  for await (const tuple of new SqliteSaver(db).list({ configurable: { thread_id: RUN_ID } })) {
    const { checkpoint, metadata, pendingWrites = [] } = tuple;
    checkpoints.push(checkpoint.id);
    for (const [visit, channel, value] of pendingWrites) {
      const asked = channel === '__interrupt__' ? (value as { readonly id: string }[]) : [];
      for (const { id } of asked) interrupts.set(id, visit);
      if (!CONTROL.has(channel) && metadata?.source !== 'input') outputs.add(visit);
    }
  }
  return { checkpoints, interrupts, outputs };
}

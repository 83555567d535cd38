import type { Database } from 'better-sqlite3';
import { HitlSessionStore, type InterruptedQuestion } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import type { Policies } from '../../state/threads/threadRecords.ts';
import { hashOf } from '../../values/canonicalJson.ts';

export const ARTIFACT_HASH = hashOf({ documents: [] });

/** A run that waits at a gate; a test names only the fields it is about. */
export function aRunWithGate(
  db: Database,
  overrides: Partial<InterruptedQuestion> = {},
  policies: Policies = {},
): HitlSession {
  const { threadId = 'run-1' } = overrides;
  new ThreadStore(db).create({
    threadId,
    projectId: threadId,
    workspace: null,
    briefSha256: null,
    graphFingerprint: 'f',
    policies,
  });
  return new HitlSessionStore(db).openForInterrupt({
    threadId,
    interruptId: 'i-1',
    questionKey: 'design_approval/lg-1',
    kind: 'design_approval',
    taskId: threadId,
    artifactHash: ARTIFACT_HASH,
    question: { message: 'Approve?' },
    checkpointId: null,
    ...overrides,
  }).session;
}

/** Every row of every table that a decision may touch. */
export function everyRow(db: Database): string {
  const decisions = ['hitl_sessions', 'hitl_decisions', 'decision_texts', 'hitl_failure_gates'];
  const tables = [...decisions, 'signals', 'events', 'threads', 'thread_inputs'];
  return JSON.stringify(tables.map((table) => db.prepare(`SELECT * FROM ${table}`).all()));
}

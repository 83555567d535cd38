// The rows of `hitl_sessions`: their statements, and how a row becomes a session.

import { canonicalJson } from '../../values/canonicalJson.ts';
import { isUnlabelled, type LabelQuery, labelConditions } from '../labels/RunLabelStore.ts';
import { isSound, parseStored, SESSION_SEAL, sealOf } from '../rows/rows.ts';
import type { AnsweredSession, HiddenRecord, HitlSession, Principal, Vote } from './hitlSession.ts';

export const COLUMNS = `
  id, task_id AS taskId, kind, status, thread_id AS threadId, interrupt_id AS interruptId,
  question_key AS questionKey, checkpoint_id AS checkpointId, artifact_hash AS artifactHash,
  question_json AS questionJson, evidence_json AS evidenceJson, decision_json AS decisionJson,
  principal_kind AS principalKind, principal_id AS principalId, suspended_at AS suspendedAt,
  decided_at AS decidedAt, resumed_at AS resumedAt`;

export const SOUND = isSound(SESSION_SEAL);

/** The members of a `SET` that changes these columns and seals the row anew. */
const sealed = (changed: Readonly<Record<string, string>>): string => {
  const set = Object.entries(changed).map(([column, value]) => `${column} = ${value}`);
  const values = SESSION_SEAL.columns.map((column) => changed[column] ?? column);
  return [...set, `row_sha256 = ${sealOf(SESSION_SEAL, values)}`].join(', ');
};

/** Handed to a visit, as {@link CARRY} does. A range, for the index ('0' is the next character). */
const IS_CARRIED =
  "interrupt_id > 'carried/' || @visitId || '/' AND interrupt_id < 'carried/' || @visitId || '0'";

export const OLDEST_FIRST = 'ORDER BY suspended_at ASC, rowid ASC';

const NEW: Readonly<Record<string, string>> = {
  ...{ id: '@id', task_id: '@taskId', graph_state_json: '@graphStateJson', suspended_at: '@now' },
  ...{ resumed_at: 'NULL', status: "'awaiting_approval'", kind: '@kind', thread_id: '@threadId' },
  ...{ interrupt_id: '@interruptId', question_key: '@questionKey', checkpoint_id: '@checkpointId' },
  ...{ artifact_hash: '@artifactHash', question_json: '@questionJson', evidence_json: '@evidenceJson' },
  ...{ decision_json: 'NULL', principal_kind: 'NULL', principal_id: 'NULL', decided_at: 'NULL' },
};

const NEW_VALUES = SESSION_SEAL.columns.map((column) => NEW[column] ?? 'NULL');

export const INSERT = `
  INSERT INTO hitl_sessions (${SESSION_SEAL.columns.join(', ')}, row_sha256)
  VALUES (${NEW_VALUES.join(', ')}, ${sealOf(SESSION_SEAL, NEW_VALUES)})
  RETURNING ${COLUMNS}`;

/** Whether there is a row that the statements below may change, or that is asked for already. */
export const SELECT_WHETHER_KNOWN = `
  SELECT EXISTS (SELECT 1 FROM hitl_sessions WHERE id = @questionKey)
    OR EXISTS (SELECT 1 FROM hitl_sessions WHERE thread_id = @threadId AND interrupt_id = @interruptId)
    OR EXISTS (SELECT 1 FROM hitl_sessions WHERE thread_id = @threadId AND question_key = @questionKey)
    OR EXISTS (SELECT 1 FROM hitl_sessions WHERE thread_id = @threadId AND ${IS_CARRIED})`;

const BOUND = sealed({
  ...{ thread_id: '@threadId', interrupt_id: '@interruptId', question_key: '@questionKey' },
  ...{ checkpoint_id: '@checkpointId', artifact_hash: '@artifactHash', question_json: '@questionJson' },
  evidence_json: 'coalesce(@evidenceJson, evidence_json)',
});

export const BIND = `
  UPDATE hitl_sessions SET ${BOUND}
  WHERE id = @questionKey AND kind = @kind AND task_id = @taskId AND interrupt_id IS NULL
    AND status = 'awaiting_approval' AND (thread_id IS NULL OR thread_id = @threadId) AND ${SOUND}`;

const SUPERSEDED = { status: "'superseded'" };

/** Its interrupt may be asked anew under the same id. */
const VOID = { ...SUPERSEDED, interrupt_id: "'void/' || id" };

export const SUPERSEDE_OLDER = `
  UPDATE hitl_sessions SET ${sealed(SUPERSEDED)}
  WHERE thread_id = @threadId AND status = 'awaiting_approval'
    AND ((question_key = @questionKey AND interrupt_id <> @interruptId)
      OR (${IS_CARRIED})) AND ${SOUND}`;

// An answer counts for what was shown, and the same question shows something else now.
export const VOID_OLDER = `
  UPDATE hitl_sessions SET ${sealed(SUPERSEDED)}
  WHERE thread_id = @threadId AND question_key = @questionKey AND interrupt_id <> @interruptId
    AND artifact_hash <> @artifactHash AND status IN ('decided', 'resumed') AND ${SOUND}
  RETURNING id`;

// LangGraph names a question by its place, whatever it shows.
export const CLEAR_PLACE = `
  UPDATE hitl_sessions SET ${sealed(VOID)}
  WHERE thread_id = @threadId AND interrupt_id = @interruptId AND artifact_hash <> @artifactHash
    AND kind IN ('interrupt', 'node_gate') AND ${SOUND}
  RETURNING id`;

export const CARRY = `
  UPDATE hitl_sessions
  SET ${sealed({ interrupt_id: "'carried/' || @toVisitId || '/' || id", checkpoint_id: '@checkpointId' })}
  WHERE thread_id = @threadId AND status NOT IN ('superseded', 'cancelled')
    AND (interrupt_id IN (SELECT value FROM json_each(@interruptIds))
      OR id IN (SELECT value FROM json_each(@sessionIds))) AND ${SOUND}`;

const ADOPTED = sealed({
  ...{ interrupt_id: '@interruptId', question_key: '@questionKey', checkpoint_id: '@checkpointId' },
  question_json: '@questionJson',
});

// Oldest first: a visit asks its questions in the order in which it asked them before. An `interrupt()` that was asked as
// a `node_gate`, by an earlier release, stays one.
export const ADOPT = `
  UPDATE hitl_sessions SET ${ADOPTED}
  WHERE id = (
    SELECT id FROM hitl_sessions
    WHERE thread_id = @threadId AND ${IS_CARRIED}
      AND (kind = @kind OR (kind = 'node_gate' AND @kind = 'interrupt'))
      AND artifact_hash = @artifactHash AND status NOT IN ('superseded', 'cancelled')
    ${OLDEST_FIRST} LIMIT 1) AND ${SOUND}`;

const DECIDED = sealed({
  ...{ status: "'decided'", decision_json: '@decisionJson', principal_kind: '@principalKind' },
  ...{ principal_id: '@principalId', decided_at: '@now' },
});

export const DECIDE = `
  UPDATE hitl_sessions SET ${DECIDED}
  WHERE id = @id AND status = 'awaiting_approval' AND interrupt_id IS NOT NULL AND artifact_hash = @artifactHash
    AND ${SOUND}
  RETURNING ${COLUMNS}`;

const RESUMED = sealed({ status: "'resumed'", resumed_at: '@now' });

export const RESUME_UNBOUND = `
  UPDATE hitl_sessions SET ${RESUMED}
  WHERE id = @id AND status = 'awaiting_approval' AND thread_id IS NULL AND ${SOUND}`;

export const MARK_RESUMED = `
  UPDATE hitl_sessions SET ${RESUMED}
  WHERE thread_id = @threadId AND status = 'decided'
    AND interrupt_id NOT IN (SELECT value FROM json_each(@openInterruptIds)) AND ${SOUND}`;

/** The interrupts of answers that were not taken up. */
export const SELECT_UNTAKEN = `
  SELECT interrupt_id FROM hitl_sessions WHERE thread_id = ? AND status = 'decided' AND interrupt_id IS NOT NULL`;

export const SELECT_WHETHER_DECIDED = `
  SELECT EXISTS (SELECT 1 FROM hitl_sessions WHERE thread_id = ? AND decided_at IS NOT NULL)`;

/** Of interrupts that are asked anew, by their ids: those may be the same again. */
export const WITHDRAW = `
  UPDATE hitl_sessions SET ${sealed(VOID)}
  WHERE thread_id = ? AND status = 'awaiting_approval' AND interrupt_id IN (SELECT value FROM json_each(?)) AND ${SOUND}`;

export const CLOSE = `
  UPDATE hitl_sessions SET ${sealed({ status: '@status' })}
  WHERE thread_id = @threadId AND status IN (SELECT value FROM json_each(@closed)) AND ${SOUND} RETURNING id`;

export const SELECT_OPEN_FOR_TASK = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions
  WHERE task_id = ? AND kind = ? AND thread_id IS ? AND status = 'awaiting_approval' ${OLDEST_FIRST} LIMIT 1`;

const ANSWERS = `
  SELECT id, task_id AS taskId, kind, status, thread_id AS threadId, artifact_hash AS artifactHash,
         decision_json AS decisionJson, principal_kind AS principalKind, principal_id AS principalId, decided_at AS decidedAt
  FROM hitl_sessions`;

export const SELECT_ANSWERED = `
  ${ANSWERS}
  WHERE decision_json IS NOT NULL OR status = 'decided' OR (status = 'resumed' AND thread_id IS NOT NULL)`;

export const SELECT_CLOSED = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions
  WHERE status <> 'awaiting_approval' AND thread_id = ? ${OLDEST_FIRST}`;

export const SELECT_DECIDED = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions
  WHERE thread_id = ? AND kind = ? AND decision_json IS NOT NULL ${OLDEST_FIRST}`;

/** The decisions about equal tool calls of a run. */
export const SELECT_DECIDED_ON_CALL = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions
  WHERE thread_id = ? AND kind IN ('node_gate', 'recursion_limit') AND decision_json IS NOT NULL
    AND question_json ->> '$.call' = ? ${OLDEST_FIRST}`;

export const SELECT_STATE = 'SELECT graph_state_json FROM hitl_sessions WHERE id = ?';

export const SELECT_HUMAN_AT = `
  SELECT 1 FROM hitl_sessions
  WHERE thread_id = ? AND checkpoint_id = ? AND decided_at IS NOT NULL AND principal_kind = 'human' LIMIT 1`;

export const COUNT_DECISIONS = 'SELECT count(*) AS count FROM hitl_sessions WHERE decided_at IS NOT NULL';

export const COUNT_DECISIONS_OF = `${COUNT_DECISIONS} AND thread_id = @threadId`;

const IN_INBOX = "FROM hitl_sessions WHERE status = 'awaiting_approval' AND thread_id IS NOT NULL";

export const COUNT_INBOX = `SELECT count(*) ${IN_INBOX}`;

export const SELECT_OLDEST_OPEN = `SELECT min(suspended_at) ${IN_INBOX}`;

const IN_ORDER = `
  AND (suspended_at, id) > (@suspendedAt, @id) ORDER BY suspended_at, id LIMIT @limit`;

const SELECT_INBOX = `SELECT ${COLUMNS}, ${SOUND} AS sound ${IN_INBOX} ${IN_ORDER}`;

const SELECT_INBOX_OF = (asking: string): string => `
  SELECT ${COLUMNS}, ${SOUND} AS sound
  FROM (
    SELECT s.id AS asked FROM ${asking}
  ) CROSS JOIN hitl_sessions ON id = asked
  WHERE true ${IN_ORDER}`;

const ASKS =
  "CROSS JOIN hitl_sessions AS s ON s.thread_id = run.thread_id AND s.status = 'awaiting_approval'";

/** @param first - The condition that the fewest runs meet: their questions are looked up, instead of the runs of all questions. */
export function selectInboxOf(query: LabelQuery, first: number | 'prefix' | null): string {
  if (isUnlabelled(query)) return SELECT_INBOX;
  if (first === 'prefix')
    return SELECT_INBOX_OF(`threads AS run ${ASKS} WHERE ${labelConditions('run', query)} true`);
  if (first !== null)
    return SELECT_INBOX_OF(
      `run_labels AS run ${ASKS} WHERE ${labelConditions('run', query, first)} run.label = @label${first}`,
    );
  const isOfThem = `EXISTS (
    SELECT 1 FROM threads AS run WHERE ${labelConditions('run', query)} run.thread_id = hitl_sessions.thread_id)`;
  return `SELECT ${COLUMNS}, ${SOUND} AS sound ${IN_INBOX} AND ${isOfThem} ${IN_ORDER}`;
}

// Without looking at runs that ask nothing.
const OF_RUNS = `
  AND EXISTS (SELECT 1 FROM threads WHERE thread_id = hitl_sessions.thread_id)
  ORDER BY (SELECT created_at FROM threads WHERE thread_id = hitl_sessions.thread_id) DESC,
           (SELECT rowid FROM threads WHERE thread_id = hitl_sessions.thread_id) DESC, suspended_at, rowid`;

export const SELECT_OPEN_OF_RUNS = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions WHERE status = 'awaiting_approval' ${OF_RUNS}`;

export const SELECT_OPEN_IDS = `
  SELECT id FROM hitl_sessions WHERE status = 'awaiting_approval' AND thread_id IS NOT NULL ORDER BY id`;

export const SELECT_NAMED = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions WHERE id >= @from AND id < @to ${OF_RUNS}`;

// Under a visit's own question, or handed to the visit under another id.
export const SELECT_ASKED = `
  SELECT ${COLUMNS}, ${SOUND} AS sound FROM hitl_sessions
  WHERE thread_id = @threadId AND status NOT IN ('superseded', 'cancelled')
    AND (question_key = @questionKey OR (kind = @kind AND ${IS_CARRIED}))
  ORDER BY suspended_at DESC, rowid DESC LIMIT 1`;

/** A row; `sound` is there where it was compared with its SHA-256. */
export interface SessionRow
  extends Omit<HitlSession, 'question' | 'evidence' | 'decision' | 'principal' | 'via' | 'hidden' | 'votes'> {
  readonly questionJson: string | null;
  readonly evidenceJson: string | null;
  readonly decisionJson: string | null;
  readonly principalKind: Principal['kind'] | null;
  readonly principalId: string | null;
  readonly sound?: 1;
}

/** The columns of an {@link AnsweredSession}: without what was shown, which may be large. */
export type AnsweredRow = Omit<AnsweredSession, 'decision' | 'principal' | 'via' | 'hidden'> &
  Pick<SessionRow, 'decisionJson' | 'principalKind' | 'principalId'>;

/** What is kept beside an answer, in its row. No answer has members of these names: their forms are strict. */
export interface AnswerExtras {
  /** The way it was given: a short word. */
  readonly via?: string | undefined;
  readonly hidden?: HiddenRecord | undefined;
}

/** A decision as its row has it: the answer, and beside it the way it was given and what was hidden. */
export function storedDecision(answer: unknown, { via, hidden }: AnswerExtras): string {
  if (via === undefined && hidden === undefined) return canonicalJson(answer);
  return canonicalJson({
    ...(answer as object),
    ...(via !== undefined && { via }),
    ...(hidden !== undefined && { hidden }),
  });
}

/** A session as its row has it. @param votesOf - Read where its gate counts votes. */
export function sessionFromRow(row: SessionRow, votesOf: (id: string) => readonly Vote[]): HitlSession {
  const { questionJson, evidenceJson, decisionJson, principalKind, principalId, sound: _, ...session } = row;
  const question = parseColumn(questionJson, session.id);
  return {
    ...session,
    ...answerIn({ id: session.id, decisionJson, principalKind, principalId }),
    question,
    evidence: parseColumn(evidenceJson, session.id),
    ...(wantsVotes(question) && { votes: votesOf(session.id) }),
  };
}

export function answeredSessionOf(row: AnsweredRow): AnsweredSession {
  const { decisionJson: _, principalKind: _kind, principalId: _id, ...session } = row;
  return { ...session, ...answerIn(row) };
}

function answerIn({
  id,
  decisionJson,
  principalKind,
  principalId,
}: Pick<AnsweredRow, 'id' | 'decisionJson' | 'principalKind' | 'principalId'>): Pick<
  HitlSession,
  'decision' | 'principal' | 'via' | 'hidden'
> {
  const given = parseColumn(decisionJson, id);
  const { via, hidden, ...decision } = Object(given) as AnswerExtras;
  const isBeside = via !== undefined || hidden !== undefined;
  return {
    decision: isBeside ? decision : given,
    principal: principalKind === null ? null : { kind: principalKind, id: principalId ?? '' },
    ...(typeof via === 'string' && { via }),
    ...(hidden !== undefined && { hidden }),
  };
}

function wantsVotes(question: unknown): boolean {
  const { takes } = (question ?? {}) as { readonly takes?: { readonly approvals?: unknown } };
  return takes?.approvals !== undefined;
}

function parseColumn(json: string | null, id: string): unknown {
  return json === null ? null : parseStored(json, `session "${id}"`);
}

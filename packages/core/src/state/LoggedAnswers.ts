import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { canonicalJson, sha256Hex } from './canonicalJson.ts';
import { inlineBody, referringBody } from './decisionBody.ts';
import type { AnsweredSession } from './hitlSession.ts';

interface LineOfSession {
  readonly bodyJson: string;
  readonly prevSha256: string;
  readonly sha256: string;
  /** SHA-256 of the line before; `null` where there is none. */
  readonly beforeSha256: string | null;
  readonly isWithinEnd: 0 | 1 | null;
}

/** What the first line of the log follows. */
export const START_OF_CHAIN = '0'.repeat(64);

const SELECT_LINE = `
  SELECT line.body_json AS bodyJson, line.prev_sha256 AS prevSha256, line.sha256,
         (SELECT sha256 FROM hitl_decisions WHERE seq = line.seq - 1) AS beforeSha256,
         line.seq <= (SELECT lines FROM decision_log_end) AS isWithinEnd
  FROM hitl_decisions AS line WHERE line.session_id = ? ORDER BY line.seq LIMIT 1`;

/** SHA-256 of a line of the log, hex. */
export const hashOfLine = (prevSha256: string, bodyJson: string): string => sha256Hex(prevSha256 + bodyJson);

/** Whether a session says what a line of the log does, or did in the form of an older engine. */
export function isSaidBy(bodyJson: string, session: AnsweredSession): boolean {
  return (
    canonicalJson(referringBody(session).body) === bodyJson || canonicalJson(inlineBody(session)) === bodyJson
  );
}

/**
 * The decision log, asked about one answer. A session's row is a view of its line: what has none, or says something else, is
 * no answer, whatever wrote it. The chain as a whole is verified when a file is opened; here it is the line and the one before.
 */
export class LoggedAnswers {
  readonly #select: Statement<[string], LineOfSession>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#select = prepare(db, SELECT_LINE);
  }

  /** Of a session that has an answer, or claims to. @throws DevsError `STATE_CORRUPT` where the log does not say it. */
  assertLogged(session: AnsweredSession): void {
    if (!isAnswered(session)) return;
    const line = this.#select.get(session.id);
    if (line === undefined) throw notLogged(session, 'has a decision that was never logged');
    if (!isOfChain(line)) throw notLogged(session, 'has an entry in the decision log outside its chain');
    if (session.status === 'awaiting_approval') throw notLogged(session, 'was decided but is open again');
    if (!isSaidBy(line.bodyJson, session)) throw notLogged(session, 'does not match the decision log');
  }
}

/** A free-standing session is closed without an answer. */
const isAnswered = ({ decision, status, threadId }: AnsweredSession): boolean =>
  decision !== null || status === 'decided' || (status === 'resumed' && threadId !== null);

const isOfChain = ({ bodyJson, prevSha256, sha256, beforeSha256, isWithinEnd }: LineOfSession): boolean =>
  prevSha256 === (beforeSha256 ?? START_OF_CHAIN) &&
  sha256 === hashOfLine(prevSha256, bodyJson) &&
  isWithinEnd === 1;

function notLogged({ id }: AnsweredSession, why: string): DevsError {
  return new DevsError(`Gate "${id}" ${why}.`, {
    code: 'STATE_CORRUPT',
    remedy:
      'Recorded decisions were changed. Run devs admin doctor, then restore a backup or find the cause.',
    context: { sessionId: id },
  });
}

import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { canonicalJson, sha256Hex } from '../../values/canonicalJson.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import type { AnsweredSession, HiddenRecord } from './hitlSession.ts';

/** What a line of the decision log says; plain JSON. */
export interface DecisionBody {
  readonly sessionId: string;
  readonly kind: string;
  readonly threadId: string | null;
  readonly taskId: string;
  readonly artifactHash: string | null;
  readonly decision: unknown;
  readonly principal: unknown;
  readonly decidedAt: number | null;
  /** SHA-256 (hex) of the version that a human put in the place of what `artifactHash` is of, and approved. */
  readonly editHash?: string;
  /** Ids of those whose yeses are the decision, where it took several. */
  readonly voters?: readonly string[];
  /** The way it was decided, where that was said. */
  readonly via?: string;
  /** How many places of what was shown were hidden, and which of them the decider was shown; where there were any. */
  readonly hidden?: HiddenRecord;
  /** Missing where the texts are in the line itself: an older engine wrote it. */
  readonly v?: typeof REFERRING;
}

/** What else a decision at a declared gate says in the line itself, for whoever has the line alone. */
interface NodeGateDecision {
  readonly editHash: string;
  readonly votes: readonly { readonly by: string }[];
}

/** Texts by their SHA-256 (hex). */
export type DecisionTexts = ReadonlyMap<string, string>;

const REFERRING = 2;

/** The one member of an answer whose text is a fixed word: `retry`, `edit`, … */
const WORD = 'action';

/** The body with each text in its place, as engines before migration 022 logged it. */
export function inlineBody(session: AnsweredSession): DecisionBody {
  const { id, kind, threadId, taskId, artifactHash, decision, principal, decidedAt, via, hidden } = session;
  const { editHash, votes } = (decision ?? {}) as Partial<NodeGateDecision>;
  const isNodeGate = kind === 'node_gate';
  return {
    sessionId: id,
    kind,
    threadId,
    taskId,
    artifactHash,
    decision,
    principal,
    decidedAt,
    ...(via !== undefined && { via }),
    ...(hidden !== undefined && { hidden }),
    ...(isNodeGate && editHash !== undefined && { editHash }),
    ...(isNodeGate && votes !== undefined && { voters: votes.map(({ by }) => by) }),
  };
}

/**
 * The body with a reference in place of each text of the answer, and those texts. Says the same as {@link inlineBody}
 * about one answer only: `v` keeps an answer that looks like a reference from being taken for one.
 */
export function referringBody(session: AnsweredSession): {
  readonly body: DecisionBody;
  readonly texts: DecisionTexts;
} {
  const texts = new Map<string, string>();
  const decision = withReferences(session.decision, texts);
  return { body: { ...inlineBody(session), decision, v: REFERRING }, texts };
}

function withReferences(answer: unknown, texts: Map<string, string>): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return referred(answer, texts);
  const members = Object.entries(answer).map(([name, value]) => {
    const isWord = name === WORD && typeof value === 'string';
    return [name, isWord ? value : referred(value, texts)];
  });
  return Object.fromEntries(members) as unknown;
}

function referred(value: unknown, texts: Map<string, string>): unknown {
  if (typeof value === 'string') {
    const sha256 = sha256Hex(value);
    texts.set(sha256, value);
    return { sha256 };
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => referred(item, texts));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, referred(item, texts)]));
}

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
  /** By session, its words and the line that says them. */
  readonly #said = new RecentMap<string, string>(REMEMBERED);

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
    // The same words of the same line need not be put in their canonical form again.
    const said = `${line.bodyJson}\n${JSON.stringify(inlineBody(session))}`;
    if (this.#said.get(session.id) === said) return;
    if (!isSaidBy(line.bodyJson, session)) throw notLogged(session, 'does not match the decision log');
    this.#said.set(session.id, said);
  }
}

/** Answers that a process reads again soon. */
const REMEMBERED = 64;

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

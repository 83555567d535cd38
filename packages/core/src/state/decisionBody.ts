import { sha256Hex } from './canonicalJson.ts';
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

import { hashOf, sha256Hex } from '../../state/canonicalJson.ts';
import type { HitlSessionKind } from '../../state/hitlSession.ts';
import { breakpointMessage, isInnerBreakpoint } from '../breakpoints/Breakpoint.ts';
import { isRecord } from '../isRecord.ts';
import { lawHere } from '../lawOf.ts';
import type { NodeExecution } from '../nodeExecution.ts';
import type { AnswerPolicy } from './AnswerPolicy.ts';
import { type GateRules, isKindOf } from './GateRule.ts';
import { shownValue } from './shownValue.ts';

/**
 * What a node asks a human: the value it hands to LangGraph's `interrupt()`. Plain JSON.
 *
 * `key` names the question independently of its position in the node and of its interrupt id, so that an
 * answer can never be taken by another question.
 */
export interface Question {
  readonly kind: HitlSessionKind;
  readonly key: string;
  /** The task it is about; the project or thread where there is none. */
  readonly taskId: string;
  /** SHA-256 (hex) of what is shown: an answer binds to it. */
  readonly artifactHash: string;
  readonly message: string;
  /** What the human is asked to read. */
  readonly artifact: unknown;
  /** Places that a run of an earlier release has masked in it, where there are any: nobody can be shown them. */
  readonly masked?: number;
  /** JSON Schema of the values that the author of a bare `interrupt()` or of a declared gate takes. */
  readonly responseSchema?: unknown;
  /** Set where nothing in the graph handles a no: rejecting then ends the run. */
  readonly endsOnRejection?: true;
  /** What it takes besides one yes or no. */
  readonly takes?: AnswerPolicy;
}

/** An answer on its way into a node. */
export interface KeyedAnswer {
  readonly for: string;
  /** SHA-256 (hex) of what was shown to whoever gave it; missing where an earlier release stored it. */
  readonly hash?: string;
  readonly value: unknown;
}

/** A decision as the driver gives it: its session tells a stored one from an equal one. */
export interface DeliveredAnswer extends KeyedAnswer {
  readonly sessionId: string;
}

// By identity: what a value looks like proves nothing about who asks.
const askedQuestions = new WeakSet<Question>();

/** Makes a question one of the engine's, on its way to LangGraph. */
export function asEngineQuestion(question: Question): Question {
  askedQuestions.add(question);
  return question;
}

/**
 * A question of the engine that is no call of `interrupt()`. Those who leave with it side by side leave with the same one,
 * and so does their node when it runs again.
 */
export function interruptAsking(value: Question): { readonly id: string; readonly value: Question } {
  return { id: askedId(value.key), value: asEngineQuestion(value) };
}

/** The interrupt id of such a question. */
export const askedId = (key: string): string => sha256Hex(key).slice(0, 32);

/** Whether the engine asks this, and not a node that passes `interrupt()` something of the same form. */
export function isEngineQuestion(value: unknown): value is Question {
  return isRecord(value) && askedQuestions.has(value as unknown as Question);
}

/** Whether a value has the form of an engine's question: for values whose session says that they are one. */
export function isQuestion(value: unknown, rules: GateRules): value is Question {
  if (!isRecord(value) || value['kind'] === 'interrupt' || !isKindOf(rules, value['kind'])) return false;
  return typeof value['key'] === 'string' && typeof value['artifactHash'] === 'string';
}

/** The value of an answer meant for `key`; `null` for anything else. */
export function answerFor(key: string, answer: unknown): { readonly value: unknown } | null {
  if (!isRecord(answer) || answer['for'] !== key || !('value' in answer)) return null;
  return { value: answer['value'] };
}

/** Whether an answer is meant for this question, and was given for what it shows. */
export function isAnswerTo({ key, artifactHash }: Question, answer: unknown): answer is KeyedAnswer {
  return answerFor(key, answer) !== null && ((answer as KeyedAnswer).hash ?? artifactHash) === artifactHash;
}

/** Builds a question; the hash is taken over what is recorded, so that is what is bound. */
export function questionAbout(artifact: unknown, about: Omit<Question, keyof ShownArtifact>): Question {
  return { ...about, ...shownBy(artifact) };
}

/** A bare `interrupt()`, as LangGraph keeps it. */
export interface PendingInterrupt {
  readonly id: string;
  readonly value: unknown;
  readonly responseSchema: unknown;
}

/** A bare `interrupt()` is a gate of its node: what it shows is what it passed, what it returns is what is decided. */
export function bareQuestion({ id, value, responseSchema }: PendingInterrupt, taskId: string): Question {
  return {
    kind: 'interrupt',
    key: bareKey(id),
    taskId,
    ...shownBy(value),
    message: isInnerBreakpoint(id, value)
      ? breakpointMessage(value)
      : 'The graph asks for a value and continues with your answer.',
    ...(responseSchema !== undefined && { responseSchema }),
  };
}

export type ShownArtifact = Pick<Question, 'artifact' | 'artifactHash' | 'masked'>;

/**
 * What a gate shows, and its hash.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` for what nobody could read.
 */
export function shownBy(value: unknown): ShownArtifact {
  const { value: artifact, count: masked } = lawHere().keep(shownValue(value ?? null));
  return { artifact, artifactHash: hashOf(artifact), ...(masked > 0 && { masked }) };
}

/** The key of a bare `interrupt()`, by LangGraph's id of it. */
export const bareKey = (id: string): string => `interrupt/${id}`;

export function sessionForQuestion(
  question: Question,
  interruptId: string,
  visit: Pick<NodeExecution, 'threadId' | 'checkpointId'> & Partial<Pick<NodeExecution, 'lgTaskId'>>,
) {
  const { kind, key, taskId, artifactHash, artifact, masked, message, responseSchema, takes } = question;
  return {
    threadId: visit.threadId,
    interruptId,
    questionKey: key,
    kind,
    taskId,
    artifactHash,
    question: {
      message,
      artifact,
      ...(masked !== undefined && { masked }),
      ...(responseSchema !== undefined && { responseSchema }),
      ...(takes !== undefined && { takes }),
    },
    evidence: null,
    checkpointId: visit.checkpointId,
    ...(visit.lgTaskId !== undefined && { visitId: visit.lgTaskId }),
  };
}

/**
 * The question a node asks for child runs; plain JSON, in the parent's checkpoint.
 *
 * `key` is the child's thread id: root thread, LangGraph's id of the asking task, position of the question in
 * it. All three are the same when the node runs again, so no table is needed to find the child.
 */
export interface FrameQuestion {
  readonly recurse: true;
  readonly key: string;
  /** `null` for one child under `key` itself, else that many under `key.0`, `key.1`, … */
  readonly count: number | null;
}

export function isFrameQuestion(value: unknown): value is FrameQuestion {
  return isRecord(value) && value['recurse'] === true && typeof value['key'] === 'string';
}

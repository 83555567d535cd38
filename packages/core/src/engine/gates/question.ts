import type { HitlSessionKind } from '../../orchestration/types.ts';
import { isHitlSessionKind } from './sessionKind.ts';

/**
 * What a node asks a human: the value it hands to LangGraph's `interrupt()`. Plain JSON, already masked.
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
  /** Set where nothing in the graph handles a no: rejecting then ends the run. */
  readonly endsOnRejection?: true;
}

/** An answer on its way into a node. */
export interface KeyedAnswer {
  readonly for: string;
  readonly value: unknown;
}

export function isQuestion(value: unknown): value is Question {
  if (!isRecord(value)) return false;
  return isHitlSessionKind(value['kind']) && typeof value['key'] === 'string';
}

/** The value of an answer meant for `key`; `null` for anything else. */
export function answerFor(key: string, answer: unknown): { readonly value: unknown } | null {
  if (!isRecord(answer) || answer['for'] !== key || !('value' in answer)) return null;
  return { value: answer['value'] };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

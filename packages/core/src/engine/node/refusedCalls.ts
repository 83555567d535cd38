// A model that repeats a refused call is stuck: without a guard the gates of that call go on forever.

import { hashOf, sha256Hex } from '../../values/canonicalJson.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import { isAnswer } from '../gates/answers.ts';
import type { GatedToolCall } from '../gates/DeclaredGate.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { ENGINE_GATES } from '../gates/engineGates.ts';
import { askedId, type Question, questionAbout, storableValue } from '../gates/question.ts';

/** After so many refusals of the same call, by name and arguments, the guard asks first. */
export const MOST_REFUSALS = 2;

/** The content of the guard's gate. */
export interface RefusedCall {
  readonly reason: string;
  readonly tool: string;
  readonly args: GatedToolCall['args'];
  readonly refusals: number;
}

interface Where {
  readonly visit: Pick<NodeExecution, 'threadId'>;
  readonly store: EngineStore;
  /** The turn of the run. */
  readonly turn: number;
}

/** The same for equal calls of one turn: it covers the tool, the arguments and the turn, not the id. */
export function digestOfCall({ name, args }: GatedToolCall, turn: number): string {
  try {
    return hashOf({ name, args, turn });
  } catch {
    // A model may ask with arguments that cannot be a gate's content; the author decides whether they are shown.
    return sha256Hex(JSON.stringify(storableValue([name, args, turn])));
  }
}

/**
 * The guard's question before the next gate of a call. `null` if the call was refused less often, or if a person has
 * answered `continue`.
 *
 * @param key - Of the gate before the call.
 */
export function refusedBefore(
  call: GatedToolCall,
  key: string,
  { visit: { threadId }, store, turn }: Where,
): Question | null {
  const question = `refused/${key}`;
  const asked = store.sessions.findByInterrupt(threadId, askedId(question));
  if (asked?.decision != null && isAnswer(ENGINE_GATES.recursion_limit, asked.decision)) return null;
  const refusals = refusalsOf(store.sessions.decidedOnCall(threadId, digestOfCall(call, turn)));
  if (refusals < MOST_REFUSALS) return null;
  const reason = `"${call.name}" was refused ${refusals} times with the same arguments, and is asked for again`;
  const artifact: RefusedCall = { reason, tool: call.name, args: call.args, refusals };
  return {
    ...questionAbout(artifact, {
      kind: 'recursion_limit',
      key: question,
      taskId: threadId,
      message: `${reason}.`,
    }),
    call: digestOfCall(call, turn),
  };
}

/** Refusals since the last other decision about the call. */
function refusalsOf(decisions: readonly unknown[]): number {
  const last = decisions.findLastIndex((decision) => !isRefusal(decision));
  return decisions.length - 1 - last;
}

const isRefusal = (decision: unknown): boolean =>
  (decision as { readonly approved?: unknown } | null)?.approved === false;

/** The call that a question is about; `null` for a question about anything else. */
export function refusedCallIn({ artifact, call }: Question): RefusedCall | null {
  return call !== undefined && 'refusals' in Object(artifact) ? (artifact as RefusedCall) : null;
}

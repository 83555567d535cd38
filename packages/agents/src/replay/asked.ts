import type { AnswerRequest } from '@devs/core';
import { answerRequestKey, keyText } from './callKey.ts';
import { firstDifference, type ValueDifference } from './firstDifference.ts';
import { type AgentRequest, normaliseJson, normaliseRequest } from './normaliseRequest.ts';
import type { RecordedCall } from './Recording.ts';

/** What was recorded for a question in the same words about the same work, in its order. */
export function recordedAnswers(
  calls: Iterable<RecordedCall>,
  request: AnswerRequest,
): readonly RecordedCall[] {
  return [...calls].filter((call) => keyText(call) === keyText(answerRequestKey(request, call.attempt)));
}

/** The first place where a request is another than the recorded one; a line without one answers any. */
export function differenceFrom(
  { request: recorded }: RecordedCall,
  request: AgentRequest,
): ValueDifference | null {
  return recorded === undefined ? null : firstDifference(normaliseJson(recorded), normaliseRequest(request));
}

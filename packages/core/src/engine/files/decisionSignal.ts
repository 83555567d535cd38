import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import { hashOf } from '../../state/canonicalJson.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import type { GateAnswer } from '../Gate.ts';
import type { RunSignal } from '../runs/Runs.ts';

/**
 * What a run is told of a decision, masked; `null` for a vote that was given before.
 *
 * @param before - The session as it was read. @param after - As the decision has left it.
 */
export function decisionSignal(
  before: HitlSession,
  after: HitlSession,
  answer: GateAnswer,
): RunSignal | null {
  const { id: sessionId, artifactHash, decidedAt, votes = [] } = after;
  const closes = after.status !== 'awaiting_approval';
  if (!closes && votes.length === (before.votes?.length ?? 0)) return null;
  const { value: masked, count: redacted } = maskPreciseDeep(answer);
  // Who says the same again, not knowing whether it was heard, is the same; two who decide are not.
  const id = `decision:${sessionId}:${hashOf(masked)}`;
  const at = decidedAt ?? votes.at(-1)?.votedAt;
  return {
    ...{ id, kind: 'decision', sessionId, artifactHash: artifactHash ?? '', answer: masked, closes },
    ...(at !== undefined && { at }),
    ...(redacted > 0 && { redacted }),
  };
}

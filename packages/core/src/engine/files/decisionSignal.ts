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
  const { id: sessionId, artifactHash, votes = [] } = after;
  const closes = after.status !== 'awaiting_approval';
  if (!closes && votes.length === (before.votes?.length ?? 0)) return null;
  const masked = maskPreciseDeep(answer).value;
  // Who says the same again, not knowing whether it was heard, is the same; two who decide are not.
  const id = `decision:${sessionId}:${hashOf(masked)}`;
  return { id, kind: 'decision', sessionId, artifactHash: artifactHash ?? '', answer: masked, closes };
}

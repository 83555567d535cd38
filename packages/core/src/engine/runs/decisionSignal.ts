import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import type { GateAnswer } from '../gates/Gate.ts';
import type { RunSignal } from './Runs.ts';

interface SignalledDecision {
  readonly answer: GateAnswer;
  /** Secrets that were taken out of it. */
  readonly redacted: number;
}

/**
 * What a run is told of a decision; `null` for a vote that was given before.
 *
 * @param before - The session as it was read. @param after - As the decision has left it.
 */
export function decisionSignal(
  before: HitlSession,
  after: HitlSession,
  { answer, redacted }: SignalledDecision,
): RunSignal | null {
  const { id: sessionId, artifactHash, decidedAt, votes = [] } = after;
  const closes = after.status !== 'awaiting_approval';
  if (!closes && votes.length === (before.votes?.length ?? 0)) return null;
  const { withHidden: _, ...said } = answer;
  // Who says the same again, not knowing whether it was heard, is the same; two who decide are not.
  const id = `decision:${sessionId}:${hashOf(said)}`;
  const at = decidedAt ?? votes.at(-1)?.votedAt;
  return {
    ...{ id, kind: 'decision', sessionId, artifactHash: artifactHash ?? '', answer: said, closes },
    ...(at !== undefined && { at }),
    ...(redacted > 0 && { redacted }),
    ...(after.hidden !== undefined && { hidden: after.hidden }),
  };
}

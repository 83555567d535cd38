import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { FencedLease } from '../../state/Fence.ts';
import type { HitlSession } from '../../state/HitlSessionStore.ts';
import { guardsOf } from '../channels.ts';
import type { EngineStore } from '../EngineStore.ts';
import { questionAbout, sessionForQuestion } from '../gates/question.ts';
import { stuckMessage, suspensionArtifact } from '../ownGraphProfile.ts';
import { openGateSession } from './openGateSession.ts';

/**
 * The session of a suspension that the last node of an own graph raised. No node is left whose entry could ask, so
 * the question is bound to the last checkpoint instead of an interrupt; `null` when there is none.
 */
export function questionAtEnd(
  { config, checkpoint }: CheckpointTuple,
  lease: FencedLease,
  store: EngineStore,
): HitlSession | null {
  const { pendingSuspension } = guardsOf(checkpoint.channel_values);
  if (!pendingSuspension) return null;
  const { sessionId, kind, taskId } = pendingSuspension;
  const question = questionAbout(suspensionArtifact(pendingSuspension), {
    kind,
    key: sessionId,
    taskId,
    message: stuckMessage(pendingSuspension),
  });
  const checkpointId = String(config.configurable?.['checkpoint_id']);
  const { threadId } = lease;
  return openGateSession(
    sessionForQuestion(question, `end/${checkpointId}`, { threadId, checkpointId }),
    lease,
    store.runs,
  );
}

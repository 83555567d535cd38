// Everything a run of the pipeline is told from outside.

import { isEdit } from '../engine/gates/answers.ts';
import { type Gate, type GateAnswer, readOnce } from '../engine/gates/Gate.ts';
import { decisionSignal, type Notice } from '../engine/runs/RunFiles.ts';
import { scrub } from '../masking/scrub.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { HitlSession } from '../state/gates/hitlSession.ts';
import { commentedGates } from './CommentedGates.ts';
import type { PipelineFile } from './PipelineFiles.ts';

export const pauseNotice = (id: string): Notice<PipelineFile, void> =>
  stopNotice('pause', ({ app }) => app.pause(id));

export const cancelNotice = (id: string): Notice<PipelineFile, void> =>
  stopNotice('cancel', async ({ app }) => (await app.engine()).cancel(id));

const stopNotice = (
  kind: 'pause' | 'cancel',
  apply: (file: PipelineFile) => Promise<void>,
): Notice<PipelineFile, void> => ({
  apply,
  draft: async (file) => ({ left: await apply(file), signal: { id: file.app.newId(), kind } }),
});

export function decisionNotice(
  id: string,
  gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
  given: GateAnswer,
): Notice<PipelineFile, HitlSession> {
  let read: GateAnswer | undefined;
  const apply = (file: PipelineFile, answer = given): Promise<HitlSession> =>
    afterBarrier(file.app.store.outlet, commentedGates(id, file).decide(gate, answer));
  return {
    apply,
    draft: async (file) => {
      read ??= readOnce(given);
      const answer = read;
      const before = file.app.store.sessions.require(gate.sessionId);
      const left = await apply(file, answer);
      return { left, signal: decisionSignal(before, left, scrubbedAnswer(answer)) };
    },
  };
}

/**
 * An answer without secrets, for its way to the run. An edit stays as it is: where it is recorded, placeholders of hidden places are
 * told apart from masks, and then it is scrubbed.
 */
function scrubbedAnswer(given: GateAnswer) {
  if (isEdit(given)) return { answer: given, redacted: 0 };
  const { by, ...said } = given;
  const { value, count: redacted } = scrub(said);
  return { answer: { ...value, by }, redacted };
}

import { decisionFromFlags } from '../../gates/answerFlags.ts';
import { type Read, wordsFor } from '../../gates/askWords.ts';
import type { Decision } from '../../gates/Decision.ts';
import { EditorFile } from '../../gates/edit/EditorFile.ts';
import { editDecision, editUntilRead, formForGate } from '../../gates/edit/editGate.ts';
import { writeFeedback } from '../../gates/edit/writeFeedback.ts';
import type { ChoiceName } from '../../gates/gateLabels.ts';
import type { Session } from '../../project/Session.ts';
import { isCodeReview } from '../../render/renderCodeReview.ts';
import { taskLabelOrEmpty } from '../../render/sentence.ts';
import type { OpenGate } from './OpenGate.ts';

/** What goes with a choice, asked of the person at the terminal; `null` when they think better of it. */
export async function promptDecision(
  choice: ChoiceName,
  open: OpenGate,
  read: Read,
  session: Session,
): Promise<Decision | null> {
  if (choice === 'approve') return { choice, answer: { approved: true } };
  if (choice === 'reject') return promptRejection(open, read, session);
  if (choice === 'edit') return edited(open, session);
  const words = await wordsFor(choice, open.gate, read);
  return words === null ? null : decisionFromFlags(choice, words);
}

async function promptRejection({ gate }: OpenGate, read: Read, { io }: Session): Promise<Decision | null> {
  const line = await read('what should change (empty: open your editor)');
  if (line === null) return null;
  const feedback = line === '' ? await writeFeedback(gate, io) : line;
  if (feedback === null) return null;
  const tasks = await askWhichTasks(gate.artifact, read);
  return tasks === null ? null : { choice: 'reject', answer: { approved: false, feedback, tasks } };
}

/** Of a review of several tasks: which are done again; `null` when the input ended. */
async function askWhichTasks(artifact: unknown, read: Read): Promise<readonly string[] | undefined | null> {
  if (!isCodeReview(artifact)) return undefined;
  const labels = artifact.tasks.map(({ taskId }) => taskLabelOrEmpty(taskId));
  if (labels.length < 2) return undefined;
  const line = await read(`tasks to redo, of ${labels.join(', ')} (empty: ${labels.at(-1)})`);
  if (line === null) return null;
  const named = line.split(/[\s,]+/).filter((label) => label !== '');
  return named.length === 0 ? undefined : named.map((label) => label.toUpperCase());
}

async function edited({ run, gate }: OpenGate, session: Session): Promise<Decision | null> {
  const { kind, sessionId } = gate;
  const form = await formForGate({ run, gate, kind, sessionId }, session);
  const file = await EditorFile.create(form, session.io);
  try {
    const decision = editDecision(await editUntilRead(form, file));
    await file.remove();
    return decision;
  } catch (error) {
    session.out.note(`your text is saved in ${file.path}`);
    throw error;
  }
}

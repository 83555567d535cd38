import type { Gate, GateEdit } from '@devs/core';
import { withPlaceholders } from '@devs/core/internal';
import type { Session } from '../../project/Session.ts';
import { assertTakes } from '../gateLabels.ts';
import type { Decision } from '../recordDecision.ts';
import { gateNotOpen, type NamedGate } from '../resolveGate.ts';
import type { EditorFile } from './EditorFile.ts';
import { documentsForm, type GateForm, isFormError, planForm } from './gateForms.ts';

/** Opens the editor again, with the problem in the first line, until the text can be read or is left as it is. */
export async function editUntilRead(form: GateForm, file: EditorFile): Promise<GateEdit | null> {
  for (let refused: string | null = null; ; ) {
    const text = await file.edit();
    try {
      return form.parse(text);
    } catch (error) {
      if (!isFormError(error) || text === refused) throw error;
      refused = withProblem(form, text, (error as Error).message);
      await file.write(refused);
    }
  }
}

/** What a gate shows, as a text to change. @throws DevsError `INVALID_ANSWER` where nothing can be edited. */
export async function formForGate(
  { run, gate, kind, sessionId }: NamedGate,
  { devs }: Session,
): Promise<GateForm> {
  const name = sessionId.slice(0, 8);
  assertTakes(gate ?? kind, 'edit', { gate: name, devs });
  if (gate !== null) return gateForm(gate, withPlaceholders(await run.draft(gate)));
  throw gateNotOpen(sessionId);
}

export function editDecision(edit: GateEdit | null): Decision | null {
  return edit === null ? null : { choice: 'edit', answer: { action: 'edit', ...edit } };
}

/** A form carries the beginning of the hash it was made from, so that it cannot be given for another version. */
function gateForm({ artifactHash, artifact }: Gate, draft: GateEdit): GateForm {
  const mark = artifactHash.slice(0, 12);
  return 'plan' in draft ? planForm(draft.plan, artifact, mark) : documentsForm(draft.documents, mark);
}

/** The text with a problem in its first line, so that the editor shows it; the other lines keep their numbers. */
export function withProblem(
  { comment: [begin, end] }: Pick<GateForm, 'comment'>,
  text: string,
  problem: string,
) {
  const [first = '', ...rest] = text.split('\n');
  const line = `${begin} NOT ACCEPTED: ${problem.replaceAll('\n', ' ').replaceAll('-->', '→')}${end}`;
  const isComment = first.startsWith(`${begin} `) && !first.startsWith(`${begin} devs `);
  return [line, ...(isComment ? rest : [first, ...rest])].join('\n');
}

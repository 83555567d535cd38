import type { GateEdit } from '@devs/core';
import type { Session } from '../../project/Session.ts';
import type { Decision } from '../Decision.ts';
import { gateNotOpen } from '../gateNotOpen.ts';
import { assertTakes } from '../gateWords.ts';
import type { NamedGate } from '../resolveGate.ts';
import type { EditorFile } from './EditorFile.ts';
import { type GateForm, isFormError } from './form.ts';
import { gateForm, withProblem } from './gateForm.ts';

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
export async function formOf(
  { run, gate, kind, sessionId }: NamedGate,
  { devs }: Session,
): Promise<GateForm> {
  const name = sessionId.slice(0, 8);
  assertTakes(gate ?? kind, 'edit', { gate: name, devs });
  if (gate !== null) return gateForm(gate, await run.draft(gate));
  throw gateNotOpen(sessionId);
}

export function editDecision(edit: GateEdit | null): Decision | null {
  return edit === null ? null : { choice: 'edit', answer: { action: 'edit', ...edit } };
}

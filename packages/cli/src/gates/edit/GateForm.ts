import { type Gate, type GateEdit, isDevsError } from '@devs/core';
import { documentsForm } from './documentsForm.ts';
import { planForm } from './planForm.ts';

/** What a gate shows as a text to change, and the way back. */
export interface GateForm {
  readonly text: string;
  readonly extension: '.md' | '.yaml';
  /** Begins and ends a comment. The first line of a form is one. */
  readonly comment: readonly [begin: string, end: string];
  /**
   * The edit that a changed text makes; `null` when it says the same.
   *
   * @throws DevsError naming the line; see {@link isFormError}.
   */
  readonly parse: (text: string) => GateEdit | null;
}

/** A form carries the beginning of the hash it was made from, so that it cannot be given for another version. */
export function gateForm({ artifactHash, artifact }: Gate, draft: GateEdit): GateForm {
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
  const line = `${begin} NOT TAKEN: ${problem.replaceAll('\n', ' ').replaceAll('-->', '→')}${end}`;
  const isComment = first.startsWith(`${begin} `) && !first.startsWith(`${begin} devs `);
  return [line, ...(isComment ? rest : [first, ...rest])].join('\n');
}

/** Whether the text can be corrected and read again. */
export const isFormError = (error: unknown): boolean =>
  isDevsError(error, 'CONFIG_INVALID') || isDevsError(error, 'DAG_INVALID');

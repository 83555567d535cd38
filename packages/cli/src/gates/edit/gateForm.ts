import type { Gate, GateEdit } from '@devs/core';
import { documentsForm } from './documentsForm.ts';
import type { GateForm } from './form.ts';
import { planForm } from './planForm.ts';

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

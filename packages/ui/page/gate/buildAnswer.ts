import type { Draft } from '../../src/drafts/Draft.ts';
import type { GateChoice, Sum } from '../../src/views/choices.ts';
import { MEASURES } from '../words.ts';

/** What is sent for a choice, or why it cannot be sent yet. */
export type AnswerDraft =
  | { readonly kind: 'answer'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly kind: 'missing'; readonly words: string };

/** What of a gate its forms depend on. */
export interface GateFormParts {
  /** What the value has to fit; absent where any will do. */
  readonly responseSchema?: unknown;
  readonly artifact: unknown;
}

/** The answer that a person has written, in the form of its gate. Pure. */
export function buildAnswer(choice: GateChoice, draft: Draft, asked: GateFormParts): AnswerDraft {
  const said = wordsIn(choice, draft);
  if (said.kind === 'missing') return said;
  const filled = filledIn(choice, draft, asked);
  if (filled.kind === 'missing') return filled;
  return readyAnswer({ ...choice.answer, ...said.answer, ...filled.answer });
}

const readyAnswer = (given: Readonly<Record<string, unknown>>): AnswerDraft => ({
  kind: 'answer',
  answer: given,
});
const missingAnswer = (words: string): AnswerDraft => ({ kind: 'missing', words });

function wordsIn({ words, comments: takes }: GateChoice, draft: Draft): AnswerDraft {
  const said = draft.words.trim() === '' || words === undefined ? {} : { [words.name]: draft.words };
  const comments = takes === true ? draft.comments.filter(({ text }) => text.trim() !== '') : [];
  if (words?.isRequired === true && Object.keys(said).length + comments.length === 0) {
    return missingAnswer('Describe what should change, below or as a comment on a line.');
  }
  return readyAnswer({ ...said, ...(comments.length > 0 && { comments }) });
}

function filledIn(
  { form }: GateChoice,
  { fields }: Draft,
  { responseSchema, artifact }: GateFormParts,
): AnswerDraft {
  switch (form?.kind) {
    case undefined:
      return readyAnswer({});
    case 'tasks':
    case 'failures':
      return ticked(form.kind, form.names, fields);
    case 'raise':
      return raisedAnswer(form.sums, fields);
    case 'value':
      return parseTyped('value', fields['value'] ?? '', widgetOf(responseSchema));
    case 'edit':
      return parseTyped('edit', fields['edit'] ?? '', typeof artifact === 'string' ? 'text' : 'json');
    case 'proposal':
      return proposalIn(fields);
  }
}

function ticked(kind: 'tasks' | 'failures', all: readonly string[], fields: Draft['fields']): AnswerDraft {
  const names = all.filter((name) => fields[`${kind} ${name}`] === 'on');
  return readyAnswer(names.length === 0 ? {} : { [kind]: names });
}

/** How a value is written. */
export type Widget = 'json' | 'text' | 'number' | 'yes-no' | readonly string[];

export function widgetOf(schema: unknown): Widget {
  const { type, enum: names } = (schema ?? {}) as { readonly type?: unknown; readonly enum?: unknown };
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  if (type === 'string') return 'text';
  if (type === 'boolean') return 'yes-no';
  return type === 'number' || type === 'integer' ? 'number' : 'json';
}

function parseTyped(name: 'value' | 'edit', text: string, widget: Widget): AnswerDraft {
  if (widget === 'text') return readyAnswer({ [name]: text });
  if (text.trim() === '') return missingAnswer('Enter a value.');
  if (typeof widget === 'object') return readyAnswer({ [name]: text });
  try {
    return readyAnswer({ [name]: JSON.parse(text) as unknown });
  } catch (error) {
    return missingAnswer(`Invalid JSON: ${(error as Error).message}`);
  }
}

/** In the unit of its field: minutes for a time. */
export function proposedSum({ measure, limit }: Sum): string {
  const { perOne } = MEASURES[measure];
  return String(perOne === 1 ? limit : Math.ceil(limit / perOne));
}

function raisedAnswer(sums: readonly Sum[], fields: Draft['fields']): AnswerDraft {
  const given: Record<string, number> = {};
  for (const sum of sums) {
    const text = fields[`raise ${sum.measure}`] ?? proposedSum(sum);
    if (text.trim() === '') continue;
    const amount = Number(text) * MEASURES[sum.measure].perOne;
    if (!(amount > 0)) return missingAnswer(`${text} is not a valid amount.`);
    given[sum.measure] = amount;
  }
  return Object.keys(given).length === 0 ? missingAnswer('Enter an amount.') : readyAnswer(given);
}

/** Under the names that the form of a proposal gives them. */
function proposalIn(fields: Draft['fields']): AnswerDraft {
  const plan = keptJson(fields['plan'] ?? '');
  if (plan !== null) return readyAnswer({ plan });
  const documents = Object.entries(fields)
    .filter(([name]) => name.startsWith('document '))
    .flatMap(([, text]) => keptJson(text) ?? []);
  return documents.length === 0 ? missingAnswer('Nothing has changed yet.') : readyAnswer({ documents });
}

/** What a form has kept as JSON; `null` for nothing, and for what a mask has made unreadable. */
export function keptJson<Kept extends object>(text: string): Kept | null {
  try {
    return text === '' ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

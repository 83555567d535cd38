import type { Draft } from '../../src/drafts/Draft.ts';
import type { Choice, Sum } from '../../src/views/choices.ts';

/** What is sent for a choice, or why it cannot be sent yet. */
export type Given =
  | { readonly kind: 'answer'; readonly answer: Readonly<Record<string, unknown>> }
  | { readonly kind: 'missing'; readonly words: string };

/** What of a gate its forms depend on. */
export interface Asked {
  /** What the value has to fit; absent where any will do. */
  readonly responseSchema?: unknown;
  readonly artifact: unknown;
}

/** The answer that a person has written, in the form of its gate. Pure. */
export function answerOf(choice: Choice, draft: Draft, asked: Asked): Given {
  const said = wordsIn(choice, draft);
  if (said.kind === 'missing') return said;
  const filled = filledIn(choice, draft, asked);
  if (filled.kind === 'missing') return filled;
  return answer({ ...choice.answer, ...said.answer, ...filled.answer });
}

const answer = (given: Readonly<Record<string, unknown>>): Given => ({ kind: 'answer', answer: given });
const missing = (words: string): Given => ({ kind: 'missing', words });

function wordsIn({ words, comments: takes }: Choice, draft: Draft): Given {
  const said = draft.words.trim() === '' || words === undefined ? {} : { [words.name]: draft.words };
  const comments = takes === true ? draft.comments.filter(({ text }) => text.trim() !== '') : [];
  if (words?.isRequired === true && Object.keys(said).length + comments.length === 0) {
    return missing('Describe what should change, below or as a comment on a line.');
  }
  return answer({ ...said, ...(comments.length > 0 && { comments }) });
}

function filledIn({ form }: Choice, { fields }: Draft, { responseSchema, artifact }: Asked): Given {
  switch (form?.kind) {
    case undefined:
      return answer({});
    case 'tasks':
    case 'failures':
      return ticked(form.kind, form.names, fields);
    case 'raise':
      return raised(form.sums, fields);
    case 'value':
      return jsonIn('value', fields['value'] ?? '', widgetOf(responseSchema));
    case 'edit':
      return jsonIn('edit', fields['edit'] ?? '', typeof artifact === 'string' ? 'text' : 'json');
    case 'proposal':
      return proposalIn(fields);
  }
}

function ticked(kind: 'tasks' | 'failures', all: readonly string[], fields: Draft['fields']): Given {
  const names = all.filter((name) => fields[`${kind} ${name}`] === 'on');
  return answer(names.length === 0 ? {} : { [kind]: names });
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

function jsonIn(name: 'value' | 'edit', text: string, widget: Widget): Given {
  if (widget === 'text') return answer({ [name]: text });
  if (text.trim() === '') return missing('Enter a value.');
  if (typeof widget === 'object') return answer({ [name]: text });
  try {
    return answer({ [name]: JSON.parse(text) as unknown });
  } catch (error) {
    return missing(`Invalid JSON: ${(error as Error).message}`);
  }
}

const PER_MINUTE = 60_000;

/** Minutes for a time, as people say it. */
export const proposedSum = ({ measure, limit }: Sum): string =>
  String(measure === 'ms' ? Math.ceil(limit / PER_MINUTE) : limit);

function raised(sums: readonly Sum[], fields: Draft['fields']): Given {
  const given: Record<string, number> = {};
  for (const sum of sums) {
    const text = fields[`raise ${sum.measure}`] ?? proposedSum(sum);
    if (text.trim() === '') continue;
    const amount = Number(text) * (sum.measure === 'ms' ? PER_MINUTE : 1);
    if (!(amount > 0)) return missing(`${text} is not a valid amount.`);
    given[sum.measure] = amount;
  }
  return Object.keys(given).length === 0 ? missing('Enter an amount.') : answer(given);
}

/** Under the names that the form of a proposal gives them. */
function proposalIn(fields: Draft['fields']): Given {
  const plan = keptJson(fields['plan'] ?? '');
  if (plan !== null) return answer({ plan });
  const documents = Object.entries(fields)
    .filter(([name]) => name.startsWith('document '))
    .flatMap(([, text]) => keptJson(text) ?? []);
  return documents.length === 0 ? missing('Nothing has changed yet.') : answer({ documents });
}

/** What a form has kept as JSON; `null` for nothing, and for what a mask has made unreadable. */
export function keptJson<Kept extends object>(text: string): Kept | null {
  try {
    return text === '' ? null : (JSON.parse(text) as Kept);
  } catch {
    return null;
  }
}

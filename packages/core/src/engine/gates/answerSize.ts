import { type Limits, tooLarge } from '../../config/limits.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { isEdit } from './answers.ts';

/**
 * Refuses a value or an edit that is larger than an answer may be. Of an edit of documents or of a plan, which is as large
 * as what was shown, each text counts for itself.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
export function assertAnswerSize(answer: object, sessionId: string, limits: Limits): void {
  const [name, text, value] = measured(answer);
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.answerBytes) return;
  throw tooLarge({
    ...{ what: `The ${name} of an answer`, limit: 'answerBytes', bytes, limits, code: 'INVALID_ANSWER' },
    path: heaviestPlace(value, name),
    context: { sessionId },
  });
}

/** The text that counts, of what. */
function measured(answer: object): readonly [name: string, text: string, value: unknown] {
  if (isEdit(answer)) return ['edit', longestText(answer), answer];
  const [name, value] = Object.entries(answer).find(([member]) => MEASURED.has(member)) ?? ['value', null];
  return [name, canonicalJson(value), value];
}

const MEASURED: ReadonlySet<string> = new Set(['value', 'edit']);

/** In bytes. */
function longestText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const texts = Object.values(value).map(longestText);
  return texts.reduce(
    (longest, text) => (Buffer.byteLength(text) > Buffer.byteLength(longest) ? text : longest),
    '',
  );
}

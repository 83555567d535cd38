import { DevsError } from '../../errors/DevsError.ts';
import type { FoundPlace } from '../../masking/MaskRule.ts';
import { placesHidden, withMarks } from '../../masking/maskAtGate.ts';
import { sha256Hex } from '../../state/canonicalJson.ts';
import type { HitlSession } from '../../state/hitlSession.ts';

// What a person edits has a placeholder for each hidden place. It is named by where it stands: what the text around it is, and
// which of its placeholders it is. What is hidden is no part of that, and no other process has to count the same places.

const PLACEHOLDER = /\[REDACTED:[a-z0-9_]{1,32}:\d{1,8}:[0-9a-f]{8}\]/g;
/** Whatever masks have written, or somebody who copied it. */
const MARK = /\[(?:[A-Z_]{2,32}=)?(?:CREDENTIALS_)?REDACTED(?::[a-z0-9_:]{1,64})?\]/g;

/** A plain JSON value to be edited by a person: as it is, with a placeholder for each place that gates hide. */
export function withPlaceholders<T>(value: T): T {
  return eachText(value, (text) => {
    const places = placesHidden(text);
    return places.length === 0 ? text : withMarks(text, places, placeholderNamer(text, places));
  }) as T;
}

/** The placeholder of each place of a text. */
function placeholderNamer(
  text: string,
  places: readonly FoundPlace[],
): (place: FoundPlace, index: number) => string {
  const around = withMarks(text, places, ({ name, length }) => `[REDACTED:${name}:${length}]`);
  return ({ name, length }, index) =>
    `[REDACTED:${name}:${length}:${sha256Hex(`${around}\n${index}`).slice(0, 8)}]`;
}

/**
 * An answer with the text of each hidden place in the place of its placeholder. Only what takes the place of what is shown is
 * looked at; feedback may speak of masks.
 *
 * @param given - The answer as it was given. @param recorded - The same, without its secrets.
 * @throws DevsError `INVALID_ANSWER` for a placeholder that is not of this gate, and for a mask that the gate does not show as
 *   it is: a mask is never taken for a value.
 */
export function withPutBack(given: object, recorded: object, session: HitlSession): object {
  const edits = editsIn(given);
  if (edits.length === 0) return recorded;
  const { known, literal } = marksAt(session);
  eachText(Object.fromEntries(edits), (text) => {
    for (const [mark] of text.matchAll(MARK)) {
      if (known.has(mark)) continue;
      const left = (literal.get(mark) ?? 0) - 1;
      if (left < 0) throw unknownMark(mark, session);
      literal.set(mark, left);
    }
    return text;
  });
  const putBack = (text: string): string => text.replaceAll(PLACEHOLDER, (mark) => known.get(mark) ?? mark);
  const whole = editsIn(recorded).map(([name, value]) => [name, eachText(value, putBack)] as const);
  return { ...recorded, ...Object.fromEntries(whole) };
}

/** What takes the place of what is shown. */
const editsIn = (answer: object): readonly (readonly [string, unknown])[] =>
  Object.entries(answer).filter(([name]) => EDITS.has(name));

/** What is behind each placeholder of a gate, and how often it shows a mask as text of its own. */
function marksAt({ question }: HitlSession) {
  const { artifact } = (question ?? {}) as { readonly artifact?: unknown };
  const known = new Map<string, string>();
  const literal = new Map<string, number>();
  eachText(artifact, (text) => {
    const places = placesHidden(text);
    const nameOf = placeholderNamer(text, places);
    for (const [index, place] of places.entries())
      known.set(nameOf(place, index), text.slice(place.at, place.at + place.length));
    for (const [mark] of text.matchAll(MARK)) literal.set(mark, (literal.get(mark) ?? 0) + 1);
    return text;
  });
  return { known, literal };
}

/** The members of an answer that take the place of what is shown. */
const EDITS: ReadonlySet<string> = new Set(['edit', 'documents', 'plan']);

/** A copy with each text replaced, names of members too. */
function eachText(value: unknown, of: (text: string) => string): unknown {
  if (typeof value === 'string') return of(value);
  if (Array.isArray(value)) return value.map((item) => eachText(item, of));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [of(name), eachText(item, of)]));
}

function unknownMark(mark: string, { id, kind }: HitlSession): DevsError {
  return new DevsError(`Gate "${id}" has no hidden text ${mark}.`, {
    code: 'INVALID_ANSWER',
    remedy: 'Keep each placeholder unchanged, or write the value. A mask is not a value.',
    context: { sessionId: id, kind },
  });
}

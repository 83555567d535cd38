// A yes is for the true artifact. Places that a gate hides of it are counted. Before a yes a person reveals them, or accepts
// their number.
//
// A text that a person edits has a placeholder for each hidden place. Its name comes from the text around it and its position
// among the placeholders of that text. The hidden text is no part of the name, and other processes need not count the same
// places.

import { DevsError } from '../../errors/DevsError.ts';
import type { FoundPlace } from '../../masking/MaskRule.ts';
import {
  type HiddenPlace,
  maskAtGate,
  placesHidden,
  type ShownAtGate,
  withMarks,
} from '../../masking/maskAtGate.ts';
import type { EventStore } from '../../state/events/EventStore.ts';
import type { HiddenRecord, HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import { hashOf, sha256Hex } from '../../values/canonicalJson.ts';
import { isSameId, principalText } from './principals.ts';

/** What a gate asks, and the code that is shown with it. */
interface AskedAtGate {
  readonly sessionId: string;
  readonly message: string;
  readonly artifact: unknown;
  /** Places that were masked before the question was recorded. */
  readonly masked?: number;
  readonly responseSchema?: unknown;
  /** Text that is shown with it and lies elsewhere, such as the diff of a review. */
  readonly code?: string | undefined;
}

/** What no view of a gate shows, in reading order. */
export const textsIn = ({ sessionId, message, artifact, responseSchema, code }: AskedAtGate) =>
  maskAtGate(
    {
      artifact,
      message,
      ...(responseSchema !== undefined && { responseSchema }),
      ...(code !== undefined && { code }),
    },
    { gate: sessionId },
  );

/** A hidden place with what is behind it. */
export interface RevealedPlace extends HiddenPlace {
  readonly text: string;
}

/** What is behind the places that a gate hides, in reading order. */
export function revealedPlaces(gate: AskedAtGate): readonly RevealedPlace[] {
  const { hidden, behind } = textsIn(gate);
  return hidden.map((place, at) => ({ ...place, text: behind[at] ?? '' }));
}

/** That somebody is shown what a gate hides, for its log. */
export function revealFact(
  gate: AskedAtGate & Pick<HitlSession, 'kind'> & { readonly artifactHash: string },
  by: Principal,
) {
  const texts = textsIn(gate);
  const { sessionId, kind, artifactHash } = gate;
  const about = { sessionId, kind, principal: principalText(by), artifactHash };
  return { ...about, count: texts.hidden.length, places: seenOf(texts) };
}

/** A decision on its way, with what says that the decider knows what is hidden. */
interface Deciding {
  readonly answer: object;
  readonly by: Principal;
  readonly withHidden?: number | undefined;
  readonly code?: string | undefined;
}

/**
 * What is recorded of what was hidden from a human; `undefined` where nothing was.
 *
 * @throws DevsError `GATE_HIDDEN` for a yes without knowing it.
 * @throws TypeError for a number of places that is none.
 */
export function hiddenFrom(
  session: HitlSession,
  { answer, by, withHidden, code }: Deciding,
  log: EventStore,
): HiddenRecord | undefined {
  assertCount(withHidden);
  if (by.kind !== 'human') return undefined;
  const gate = { ...askedIn(session), code };
  const texts = textsIn(gate);
  const count = texts.hidden.length + (gate.masked ?? 0);
  const isRevealed = count > 0 && wasRevealed(session, { by, places: seenOf(texts) }, log);
  const shown = texts.hidden.length;
  const isKnown =
    withHidden === undefined ? count === 0 || (isRevealed && shown === count) : withHidden === count;
  if (isYesAnswer(answer) && !isKnown) throw unseen(session, { count, shown }, withHidden);
  if (count === 0) return undefined;
  return { count, revealed: isRevealed ? texts.hidden.map((_, at) => at + 1) : [] };
}

function askedIn({ id, question }: HitlSession): AskedAtGate {
  const asked = (question ?? {}) as Partial<AskedAtGate>;
  return { message: '', artifact: null, ...asked, sessionId: id };
}

/** What lets something happen; a no, an edit that is asked about again and the answers to a guard do not. */
function isYesAnswer(answer: object): boolean {
  const { approved } = answer as { readonly approved?: unknown };
  return approved === true || 'value' in answer || 'edit' in answer;
}

function wasRevealed(
  { id, threadId, artifactHash }: HitlSession,
  { by, places }: { readonly by: Principal; readonly places: string },
  log: EventStore,
): boolean {
  if (threadId === null) return false;
  const principal = principalText(by);
  return log
    .listNamed(threadId, 'GATE_REVEALED')
    .some(
      ({ payload }) =>
        payload.sessionId === id &&
        isSameId(payload.principal, principal) &&
        payload.artifactHash === artifactHash &&
        payload.places === places,
    );
}

/** What a person was shown of hidden places, as it is compared: which they are, and nothing of what is in them. */
const seenOf = ({ hidden }: Pick<ShownAtGate<unknown>, 'hidden'>): string =>
  hashOf(hidden.map(({ in: path, at, length, name }) => [path, at, length, name]));

function assertCount(withHidden: unknown): void {
  if (withHidden === undefined || (Number.isSafeInteger(withHidden) && Number(withHidden) >= 0)) return;
  throw new TypeError('`withHidden` must be the number of hidden places.');
}

function unseen(
  { id }: HitlSession,
  { count, shown }: { readonly count: number; readonly shown: number },
  withHidden: number | undefined,
): DevsError {
  const lost = count - shown;
  const places = count === 1 ? '1 place' : `${count} places`;
  const before = lost === 0 ? '' : `; ${lost} of them were masked before the gate opened and cannot be shown`;
  const said = withHidden === undefined ? '' : `, not ${withHidden}`;
  const unread = `approve them unread with \`withHidden\`: ${count} (--with-hidden ${count})`;
  return new DevsError(`Gate "${id}" hides ${places} of the content to approve${said}${before}.`, {
    code: 'GATE_HIDDEN',
    remedy:
      shown === 0
        ? `${unread[0]?.toUpperCase()}${unread.slice(1)}, or reject it.`
        : `Read them with devs show --reveal or on the page first, or ${unread}.`,
    context: { sessionId: id, hidden: count },
  });
}

/** A plain JSON value to be edited by a person: as it is, with a placeholder for each place that gates hide. */
export function withPlaceholders<T>(value: T): T {
  return eachText(value, (text) => {
    const places = placesHidden(text);
    return places.length === 0 ? text : withMarks(text, places, placeholderNamer(text, places));
  }) as T;
}

/**
 * An answer with the text of each hidden place in the place of its placeholder. Only what takes the place of what is shown is
 * looked at; feedback may speak of masks.
 *
 * @param given - The answer as it was given. @param recorded - The same, without its secrets.
 * @throws DevsError `INVALID_ANSWER` for a placeholder that is not of this gate, and for a mask that the gate does not show as
 *   it is. A mask is never taken for a value.
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

const PLACEHOLDER = /\[REDACTED:[a-z0-9_]{1,32}:\d{1,8}:[0-9a-f]{8}\]/g;
/** Whatever masks have written, or somebody who copied it. */
const MARK = /\[(?:[A-Z_]{2,32}=)?(?:CREDENTIALS_)?REDACTED(?::[a-z0-9_:]{1,64})?\]/g;

/** The members of an answer that take the place of what is shown. */
const EDITS: ReadonlySet<string> = new Set(['edit', 'documents', 'plan']);

/** What takes the place of what is shown. */
const editsIn = (answer: object): readonly (readonly [string, unknown])[] =>
  Object.entries(answer).filter(([name]) => EDITS.has(name));

/** The placeholder of each place of a text. */
function placeholderNamer(
  text: string,
  places: readonly FoundPlace[],
): (place: FoundPlace, index: number) => string {
  const around = withMarks(text, places, ({ name, length }) => `[REDACTED:${name}:${length}]`);
  return ({ name, length }, index) =>
    `[REDACTED:${name}:${length}:${sha256Hex(`${around}\n${index}`).slice(0, 8)}]`;
}

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

import { DevsError } from '../../errors/DevsError.ts';
import { type HiddenPlace, maskAtGate, type ShownAtGate } from '../../masking/maskAtGate.ts';
import { hashOf } from '../../state/canonicalJson.ts';
import type { EventStore } from '../../state/EventStore.ts';
import type { HiddenRecord, HitlSession, Principal } from '../../state/hitlSession.ts';
import { principalText } from './assertDecidable.ts';
import { isSameId } from './people.ts';

// A yes is for the true artifact. What a gate hides of it is counted, and was shown to whoever says yes, or they accept it by
// its number.

/** What a gate asks, and the code that is shown with it. */
export interface AskedAtGate {
  readonly sessionId: string;
  readonly message: string;
  readonly artifact: unknown;
  /** Places that were masked before the question was recorded. */
  readonly masked?: number;
  readonly responseSchema?: unknown;
  /** Text that is shown with it and lies elsewhere, such as the diff of a review. */
  readonly code?: string | undefined;
}

/** A hidden place with what is behind it. */
export interface RevealedPlace extends HiddenPlace {
  readonly text: string;
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

/** What is behind the places that a gate hides, in reading order. */
export function revealedPlaces(gate: AskedAtGate): readonly RevealedPlace[] {
  const { hidden, behind } = textsIn(gate);
  return hidden.map((place, at) => ({ ...place, text: behind[at] ?? '' }));
}

/** What a person was shown of hidden places, as it is compared: which they are, and nothing of what is in them. */
const seenOf = ({ hidden }: Pick<ShownAtGate<unknown>, 'hidden'>): string =>
  hashOf(hidden.map(({ in: path, at, length, name }) => [path, at, length, name]));

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
export interface Deciding {
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

import { hash } from 'node:crypto';
import { DevsError } from '../errors/DevsError.ts';
import { isLasting, lastingJson } from '../values/lasting.ts';

type State = Record<string, unknown>;

/** Stores a large field and returns the id of its blob. */
export type PutField = (field: string, value: FieldText) => number;

/** A state that is serialized, but whose large fields are not stored yet. */
export type JournaledState =
  | { readonly kind: 'whole'; readonly json: string }
  /** `write` gives the text of the row; hands every large field to `put`. */
  | {
      readonly kind: 'manifest';
      readonly large: ReadonlyMap<string, FieldText>;
      readonly write: (put: PutField) => string;
    };

/** What a row of the journal holds of a state. */
export interface StoredState {
  readonly serialized_state: string;
  /** {@link hashOfText}; nothing in a row of an older engine, or in a table of the seven required columns. */
  readonly sha256?: Uint8Array | null;
}

/** A field of a state, as JSON. */
export interface FieldText {
  /** The value itself where it is a text: one that did not change is not made JSON again. */
  readonly text: string | null;
  readonly json: string;
}

interface JournalField extends FieldText {
  readonly name: string;
}

/** What a row holds for a large state: small fields as they are, large ones as ids of blobs. */
interface Manifest {
  readonly $devs: 1;
  readonly fields: State;
  readonly channels: Readonly<Record<string, number>>;
}

/** Bytes of JSON up to which a row holds the state itself. */
const WHOLE_STATE_BYTES = 8 * 1024;

/** Characters of JSON up to which a manifest holds a field itself. */
const INLINE_FIELD_LENGTH = 64;

/** Marks a manifest; a state with a field of this name is always written as one, so the two cannot be confused. */
const MARK = '$devs';

/**
 * Serializes a state for the journal: exactly `JSON.stringify(state)` up to 8 KiB; above that a manifest, so that the
 * turns of a run share the fields that did not change.
 *
 * @param canShare - False where there is no table for shared fields: the row then holds a state of any size itself.
 * @param before - Fields of the turn before.
 * @throws TypeError if the state is not JSON.
 */
export function storeState(
  state: State,
  canShare: boolean,
  before?: ReadonlyMap<string, FieldText>,
): JournaledState {
  const fields = Object.keys(state).flatMap((name): JournalField[] => {
    const value = state[name];
    const text = typeof value === 'string' ? value : null;
    const known = text === null ? undefined : before?.get(name);
    const json = known?.text === text ? known.json : jsonOrNothing(value);
    return json === undefined ? [] : [{ name, text, json }];
  });
  const isMarked = Object.hasOwn(state, MARK);
  if (!canShare) return { kind: 'whole', json: isMarked ? manifestOf(fields, []) : joinMembers(fields) };
  const whole = isMarked ? null : wholeText(fields);
  if (whole !== null) return { kind: 'whole', json: whole };
  const large = fields.filter(({ json }) => json.length > INLINE_FIELD_LENGTH);
  const small = fields.filter(({ json }) => json.length <= INLINE_FIELD_LENGTH);
  return {
    kind: 'manifest',
    large: new Map(large.map((field) => [field.name, field])),
    write: (put) => manifestText(small, large, put),
  };
}

/** Nothing for what JSON leaves out. */
const jsonOrNothing = (value: unknown): string | undefined =>
  isLasting(value) ? lastingJson(value) : (JSON.stringify(value) as string | undefined);

/** The same text as `JSON.stringify(state)`, put together from texts that a manifest needs too; `null` if too long. */
function wholeText(fields: readonly JournalField[]): string | null {
  // A text has at least as many bytes as characters.
  const characters = fields.reduce((sum, { json }) => sum + json.length, 0);
  if (characters > WHOLE_STATE_BYTES) return null;
  const whole = joinMembers(fields);
  return Buffer.byteLength(whole) <= WHOLE_STATE_BYTES ? whole : null;
}

/** SHA-256 of a row's text, as the 32 bytes that the table holds. */
export function hashOfText(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** The full state of a row. @throws DevsError `STATE_CORRUPT` if its text is not the one that was written. */
export function readJournaledState(row: StoredState, get: (blobId: number) => Uint8Array): State {
  const parsed = parseJournal(row);
  if (!Object.hasOwn(parsed, MARK)) return parsed;
  if (!isManifest(parsed)) throw journalCorrupt();
  const large = Object.entries(parsed.channels).map(([name, blobId]): [string, unknown] => [
    name,
    JSON.parse(new TextDecoder().decode(get(blobId))),
  ]);
  return Object.fromEntries([...Object.entries(parsed.fields), ...large]);
}

/**
 * The blobs a row refers to, by field; none where it holds the state itself.
 *
 * @throws DevsError `STATE_CORRUPT` as {@link readJournaledState}: an id that changed would lead to another value.
 */
export function referencesOf(row: StoredState): Readonly<Record<string, number>> {
  const parsed = parseJournal(row);
  return isManifest(parsed) ? parsed.channels : {};
}

/** The text of a {@link Manifest}, put together from the texts of its fields. */
function manifestText(small: readonly Member[], large: readonly JournalField[], put: PutField): string {
  const channels = large.map((field) => ({ name: field.name, json: String(put(field.name, field)) }));
  return manifestOf(small, channels);
}

type Member = Pick<JournalField, 'name' | 'json'>;

const manifestOf = (fields: readonly Member[], channels: readonly Member[]): string =>
  `{"${MARK}":1,"fields":${joinMembers(fields)},"channels":${joinMembers(channels)}}`;

function joinMembers(fields: readonly Member[]): string {
  return `{${fields.map(({ name, json }) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}

function parseJournal({ serialized_state: text, sha256 }: StoredState): State {
  if (sha256 != null && Buffer.compare(hashOfText(text), sha256) !== 0) throw journalCorrupt();
  try {
    return JSON.parse(text) as State;
  } catch (error) {
    throw journalCorrupt(error);
  }
}

function isManifest(value: object): value is Manifest {
  return MARK in value && value[MARK] === 1 && 'fields' in value && 'channels' in value;
}

function journalCorrupt(cause?: unknown): DevsError {
  return new DevsError('A row of the turn journal is damaged.', {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    cause,
  });
}

const JSON_NULL = new TextEncoder().encode('null');

/** The blobs that a row of the journal refers to; `undefined` if its text is not the one that was written. */
export function blobsOfTurn(turn: StoredState): readonly number[] | undefined {
  const blobIds: number[] = [];
  try {
    readJournaledState(turn, (blobId) => {
      blobIds.push(blobId);
      return JSON_NULL;
    });
    return blobIds;
  } catch {
    return undefined;
  }
}

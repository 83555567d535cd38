// The recorded mutations of the specification ledger: for each row a change of the source that makes it false. The
// test (or command, or quote) that the row names must notice.
//
//   { "file", "find", "replace" }            `find` is in `file` exactly once
//   { …, "says" }                            the row's command must fail with these words in its output
//   { …, "built": true }                     … and is run after a build of the changed source
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, isBuilt, isTested, root } from './ledger.mjs';

const MAX_NOT_MUTABLE = 5;

/** How a row's mutation is noticed. */
export function proofOf(entry, { says }) {
  if (says !== undefined) return 'command';
  return isTested(entry) ? 'test' : 'quote';
}

/** `source` with the mutation. @throws Error where it does not apply, in exactly one place. */
export function mutate(source, { find, replace }) {
  const places = source.split(find).length - 1;
  if (places !== 1) throw new Error(`“${find}” is there ${places} times, expected once`);
  if (find === replace) throw new Error('it changes nothing');
  return source.replace(find, () => replace);
}

function complaintsAbout(entry, { mutations, notMutable }) {
  const { id } = entry;
  const mutation = mutations[id];
  if (mutation === undefined) return notMutable[id] ? [] : [`${id}: no mutation, and no reason why not`];
  const complaints = notMutable[id] ? ['it has a mutation and a reason why not'] : [];
  if (proofOf(entry, mutation) === 'command' && entry.command === undefined)
    complaints.push('it has no command');
  if (proofOf(entry, mutation) === 'quote' && entry.quote === undefined)
    complaints.push('its command must say something');
  try {
    mutate(readFileSync(join(root, mutation.file), 'utf8'), mutation);
  } catch (error) {
    complaints.push(`${mutation.file}: ${error.message}`);
  }
  return complaints.map((complaint) => `${id}: ${complaint}`);
}

function complaintsAboutAll(entries, recorded) {
  const known = new Set(entries.map(({ id }) => id));
  const strangers = Object.keys({ ...recorded.mutations, ...recorded.notMutable }).filter(
    (id) => !known.has(id),
  );
  const excused = Object.keys(recorded.notMutable).length;
  return [
    ...entries.flatMap((entry) => complaintsAbout(entry, recorded)),
    ...strangers.map((id) => `${id}: no such row`),
    ...(excused > MAX_NOT_MUTABLE
      ? [`${excused} rows are not mutable, at most ${MAX_NOT_MUTABLE} may be`]
      : []),
  ];
}

/**
 * The mutation of every row that has one, and what is wrong with them.
 *
 * @returns `{ rows: [{ entry, mutation }], notMutable: { id: reason }, complaints: [text] }`
 */
export function readMutations(ledger) {
  const recorded = JSON.parse(readFileSync(join(root, 'docs', 'specification-mutations.json'), 'utf8'));
  const entries = entriesOf(ledger).filter(isBuilt);
  const rows = entries
    .filter(({ id }) => recorded.mutations[id] !== undefined)
    .map((entry) => ({ entry, mutation: recorded.mutations[entry.id] }));
  return { rows, notMutable: recorded.notMutable, complaints: complaintsAboutAll(entries, recorded) };
}

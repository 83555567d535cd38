// The recorded mutations of the specification ledger: for each row a change of the source that makes it false. The
// test (or command, or quote) that the row names must notice.
//
//   { "file", "find", "replace" }            `find` is in `file` exactly once
//   { …, "says" }                            the row's command must fail with these words in its output
//   { …, "built": true }                     … and is run after a build of the changed source
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, isBuilt, isTested, root } from './ledger.mjs';

/** Where they are, from the root. */
export const RECORDED = 'docs/specification-mutations.json';

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

/** What is wrong with a row's mutation, in words. */
function flawsOf(entry, mutation) {
  const proof = proofOf(entry, mutation);
  const flaws = [];
  if (proof === 'command' && entry.command === undefined) flaws.push('the row has no command');
  if (proof === 'quote' && entry.quote === undefined) flaws.push('what its command says is missing');
  try {
    mutate(readFileSync(join(root, mutation.file), 'utf8'), mutation);
  } catch (error) {
    flaws.push(`${mutation.file}: ${error.message}`);
  }
  return flaws;
}

function flawsOfRow(entry, { mutations, notMutable }) {
  const mutation = mutations[entry.id];
  const isExcused = notMutable[entry.id] !== undefined;
  if (mutation === undefined) return isExcused ? [] : ['no mutation, and no reason why not'];
  return [...flawsOf(entry, mutation), ...(isExcused ? ['a mutation, and a reason why not'] : [])];
}

function complaintsAbout(entries, recorded) {
  const known = new Set(entries.map(({ id }) => id));
  const named = Object.keys({ ...recorded.mutations, ...recorded.notMutable });
  const excused = Object.keys(recorded.notMutable);
  return [
    ...entries.flatMap((entry) => flawsOfRow(entry, recorded).map((text) => ({ id: entry.id, text }))),
    ...named.filter((id) => !known.has(id)).map((id) => ({ id, text: 'there is no such row' })),
    ...excused
      .slice(MAX_NOT_MUTABLE)
      .map((id) => ({ id, text: `more than ${MAX_NOT_MUTABLE} rows are not mutable` })),
  ];
}

/**
 * The mutation of every row that has one, and what is wrong with them.
 *
 * @returns `{ rows: [{ entry, mutation }], notMutable: { id: reason }, complaints: [{ id, text }] }`
 */
export function readMutations(ledger) {
  const recorded = JSON.parse(readFileSync(join(root, RECORDED), 'utf8'));
  const entries = entriesOf(ledger).filter(isBuilt);
  const rows = entries
    .filter(({ id }) => recorded.mutations[id] !== undefined)
    .map((entry) => ({ entry, mutation: recorded.mutations[entry.id] }));
  return { rows, notMutable: recorded.notMutable, complaints: complaintsAbout(entries, recorded) };
}

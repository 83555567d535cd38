import type { TestLoss } from '../ports.ts';
import type { FileVersions } from './FileVersions.ts';
import { joinNames } from './joinNames.ts';
import { countAsserts, readCases, type SourceCase } from './readCases.ts';

/** Words of two texts that both have, of all they have: 0 to 1. */
const ALIKE = 0.5;
const ALIKE_TITLE = 0.34;

interface CaseOf extends SourceCase {
  readonly path: string;
}

/**
 * Cases that were in the sources of tests and are no more: neither by title in any file, nor as a case that was renamed
 * or rewritten; and cases that stayed and assert nothing, or less exactly.
 */
export function lostCases(files: readonly FileVersions[]): readonly TestLoss[] {
  const before = casesOf(files, 'before');
  const after = casesOf(files, 'after');
  const stayed = new Map(after.map((found) => [found.title, found]));
  const titles = new Set(before.map(({ title }) => title));
  const gone = before.filter(({ title }) => !stayed.has(title));
  const fresh = after.filter(({ title }) => !titles.has(title));
  const lost = withoutRenamed(gone, fresh);
  return [
    ...files.flatMap((file) => ofFile(file, lost)),
    ...before.flatMap((old) => weaker(old, stayed.get(old.title))),
  ];
}

const casesOf = (files: readonly FileVersions[], side: 'before' | 'after'): readonly CaseOf[] =>
  files.flatMap((file) => {
    const source = file[side];
    if (source === null) return [];
    return readCases(file.path, source).map((found) => ({ ...found, path: file.path }));
  });

function withoutRenamed(gone: readonly CaseOf[], fresh: readonly CaseOf[]): readonly CaseOf[] {
  const free = new Set(fresh);
  return gone.filter((old) => {
    const heir = [...free].find((candidate) => isHeirCase(old, candidate));
    if (heir !== undefined) free.delete(heir);
    return heir === undefined;
  });
}

/** A renamed case has a body alike; a rewritten one, a title alike. Neither may assert less exactly. */
function isHeirCase(old: CaseOf, candidate: CaseOf): boolean {
  if (candidate.asserts === 0 && old.asserts > 0) return false;
  return likeness(old.title, candidate.title) >= ALIKE_TITLE || likeness(old.body, candidate.body) >= ALIKE;
}

function likeness(one: string, other: string): number {
  const a = splitIdentifier(one);
  const b = splitIdentifier(other);
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared / Math.max(1, a.size + b.size - shared);
}

const splitIdentifier = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
      .toLowerCase()
      .match(/[a-z\d]+/g),
  );

function ofFile({ path, before, after }: FileVersions, lost: readonly CaseOf[]): readonly TestLoss[] {
  const here = lost.filter((found) => found.path === path);
  const titles = here.map(({ title }) => `"${title}"`);
  if (before === null) return [];
  if (after === null) {
    return here.length === 0
      ? []
      : [{ kind: 'deleted', path, words: `deleted, and with it ${joinNames(titles)}` }];
  }
  if (here.length > 0) return [{ kind: 'fewer-cases', path, words: `no longer has ${joinNames(titles)}` }];
  if (readCases(path, before).length > 0) return [];
  if (countAsserts(path, before).asserts === 0 || countAsserts(path, after).asserts > 0) return [];
  return [{ kind: 'emptied', path, words: 'no longer asserts anything' }];
}

function weaker(old: CaseOf, now: CaseOf | undefined): readonly TestLoss[] {
  if (now === undefined) return [];
  const { path, title } = now;
  if (old.asserts > 0 && now.asserts === 0) {
    return [{ kind: 'emptied', path, words: `"${title}" no longer asserts anything` }];
  }
  if (old.exact > 0 && now.exact === 0) {
    return [{ kind: 'emptied', path, words: `"${title}" no longer says which value it expects` }];
  }
  return [];
}

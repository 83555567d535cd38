// Compares a reviewer's evidence with the work.

import type { CriterionEvidence } from '../ports.ts';
import { isTestFile } from './testSource.ts';

/** Files for comparison. */
interface EvidencePlace {
  /** Files that the work changes. */
  readonly changed: readonly string[];
  /** All files there are with it. */
  readonly files: readonly string[];
  /** Tests of other tasks, by the label of the task. */
  readonly testsOfOthers: ReadonlyMap<string, string>;
  /** Earlier files may show it: refactoring, and work that a person rejected. */
  readonly mayBeOld: boolean;
}

interface JudgedEvidence {
  /** Without findings. */
  readonly sound: readonly CriterionEvidence[];
  /** For people, a line each. */
  readonly findings: readonly string[];
}

/** A path in words: with a folder, or the name of a file with its ending. */
const PATH = /(?:[\w@.+-]+\/)*[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}\b/g;

/** Finds evidence outside of the work, in a missing file, or in the test of another task. */
export function judgeEvidence(evidence: readonly CriterionEvidence[], place: EvidencePlace): JudgedEvidence {
  const judged = evidence.map((entry) => ({ entry, why: whyNot(entry, place) }));
  return {
    sound: judged.flatMap(({ entry, why }) => (why === null ? [entry] : [])),
    findings: judged.flatMap(({ entry, why }) =>
      why === null ? [] : [`The evidence for "${entry.criterion}" names ${why}.`],
    ),
  };
}

function whyNot({ shownBy }: CriterionEvidence, place: EvidencePlace): string | null {
  const named = [...new Set(shownBy.match(PATH) ?? [])].map((name) => ({
    name,
    paths: place.files.filter((path) => path === name || path.endsWith(`/${name}`)),
  }));
  const absent = named.find(({ name, paths }) => paths.length === 0 && isSurelyPath(name));
  if (absent !== undefined) return `${absent.name}, which is not there`;
  const found = named.filter(({ paths }) => paths.length > 0);
  if (place.mayBeOld || found.length === 0) return null;
  const isChanged = ({ paths }: (typeof found)[number]): boolean =>
    paths.some((path) => place.changed.includes(path));
  const others = found.filter((each) => !isChanged(each));
  for (const { name, paths } of others) {
    const owner = paths.map((path) => place.testsOfOthers.get(path)).find((label) => label !== undefined);
    if (owner !== undefined) return `${name}, a test of ${owner}`;
  }
  return others.length < found.length ? null : `${others[0]?.name}, which this work does not change`;
}

/** `Node.js` is a word, and `e.g` too. */
const isSurelyPath = (name: string): boolean => name.includes('/') || isTestFile(name);

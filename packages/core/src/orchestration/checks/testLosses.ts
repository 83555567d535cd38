import type { CheckResult, TestLoss } from '../ports.ts';
import { type CheckSummary, joinNames, ranCases } from './CheckSummary.ts';
import {
  countAsserts,
  type FileVersions,
  isTestFile,
  linesOnlyIn,
  readCases,
  type SourceCase,
  skipMarks,
  withoutComments,
} from './testSource.ts';
import { weakenedSettings } from './weakenedSettings.ts';

export interface ChangedTests {
  /** All files that differ, also those that are no tests. A renamed one is two. */
  readonly files: readonly FileVersions[];
  /** The checks on the tree before; `null` where they are not known. */
  readonly before: CheckSummary | null;
  /** The checks on the tree after, once they have passed. */
  readonly now: CheckResult | null;
}

/**
 * Losses of tests in a change: files, cases, assertions, cases that no longer run, and settings that ask less. It reads sources
 * and counts nothing that it does not know. Ordinary work is no loss: a case added, renamed or moved, a dependency, another script.
 */
export function testLosses({ files, before, now }: ChangedTests): readonly TestLoss[] {
  const changed = files.filter((file) => file.before !== file.after);
  const tests = changed.filter(({ path }) => isTestFile(path));
  const losses = [
    ...lostCases(tests),
    ...tests.flatMap(newMarks),
    ...changed.filter(({ path }) => path.endsWith('.snap')).flatMap((file) => lostSnapshot(file, changed)),
    ...changed.flatMap((file) => weakened(file, changed)),
  ];
  return losses.some(({ kind }) => kind !== 'weakened-check') ? losses : [...losses, ...fewer(before, now)];
}

function newMarks(file: FileVersions): readonly TestLoss[] {
  const { path, before, after } = file;
  if (after === null) return [];
  const had = new Map<string, number>();
  for (const { text } of skipMarks(path, before ?? '')) had.set(text, (had.get(text) ?? 0) + 1);
  const titles = new Set(readCases(path, before ?? '').map(({ title }) => title));
  const hasNewCase = readCases(path, after).some(({ title }) => !titles.has(title));
  return skipMarks(path, after)
    .filter(({ text, isConditional }) => {
      const left = had.get(text) ?? 0;
      had.set(text, left - 1);
      return left <= 0 && !(isConditional && hasNewCase);
    })
    .map(({ kind, text }) => ({ kind, path, words: `now has ${text}` }));
}

/** A snapshot whose test is still there was compared with something. */
function lostSnapshot({ path, after }: FileVersions, all: readonly FileVersions[]): readonly TestLoss[] {
  if (after !== null) return [];
  const test = path.replace('__snapshots__/', '').replace(/\.snap$/, '');
  const isGone = all.some((file) => file.path === test && file.after === null);
  return isGone ? [] : [{ kind: 'deleted', path, words: 'a snapshot that its test was compared with' }];
}

function weakened(file: FileVersions, all: readonly FileVersions[]): readonly TestLoss[] {
  const { path } = file;
  const isTest = isTestFile(path) || /(?:^|\/)(?:tests?|__tests__|spec)\//.test(path);
  const weakenings = weakenedSettings(file, all) ?? weakenedSource(file, isTest);
  return weakenings.map((words) => ({ kind: 'weakened-check' as const, path, words }));
}

function fewer(before: CheckSummary | null, now: CheckResult | null): readonly TestLoss[] {
  const had = before?.cases ?? null;
  const has = ranCases(now?.cases);
  if (had === null || has === null || now?.passed !== true || has >= had) return [];
  return [{ kind: 'fewer-cases', path: null, words: `${has} cases ran, where ${had} did before` }];
}

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
function lostCases(files: readonly FileVersions[]): readonly TestLoss[] {
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

/** A whole file that no linter or compiler judges any more. */
const UNJUDGED =
  /^\/\*\s*eslint-disable\s*\*\/|^\/\/\s*@ts-nocheck|biome-ignore-all|^\/\*\s*oxlint-disable\s*\*\/|^#\s*(?:flake8|ruff):\s*noqa|^#\s*mypy:\s*ignore-errors|^#\s*pylint:\s*(?:disable=all|skip-file)|^\/\*\s*(?:istanbul|c8|v8) ignore file|^\/\/\s*nolint$|^#!\[allow\(/;
/** Code that asks whether it is being tested. */
const ASKS = /\b(?:VITEST(?:_WORKER_ID)?|JEST_WORKER_ID|NODE_TEST_CONTEXT|PYTEST_CURRENT_TEST|AVA_PATH)\b/;
/** In a test or what it loads: ends well whatever was found, or puts something else in the place of what judges. */
const SABOTAGES =
  /\bprocess\.(?:reallyE|e)xit\s*\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0|\bos\._exit\s*\(\s*0|\bsys\.exit\s*\(\s*0?\s*\)|\bos\.Exit\s*\(\s*0|\b(?:globalThis|global)\.(?:it|test|describe|expect|assert)\s*=[^=]|^(?:assert|expect)(?:\.\w+)?\s*=[^=]|\b(?:mock|spyOn)\w*\s*\(\s*assert\b|\bassert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|ok)\s*=[^=]/;
const SWALLOWED =
  /\btry\s*\{(?<tried>[\s\S]*?)\}\s*catch\s*(?:\([^)]*\)\s*)?\{\s*\}|\btry:\s*\n(?<block>(?:[^\S\n]+[^\n]*\n)+?)\s*except[^\n]*:\s*(?:\n\s*)?pass\b/g;

/** What a source keeps from being judged. @param isTest - Whether it is a test, or is loaded by tests. */
function weakenedSource(file: FileVersions, isTest: boolean): readonly string[] {
  const { path, before, after } = file;
  if (after === null) return [];
  const plain = { before: stripped(path, before), after: withoutComments(path, after) };
  const added = linesOnlyIn(plain.after, plain.before);
  const comments = linesOnlyIn(after, before);
  const asks = isTest ? SABOTAGES : ASKS;
  return [
    ...comments.filter((line) => UNJUDGED.test(line)).map((line) => `now says ${line}`),
    ...added.filter((line) => asks.test(line)).map((line) => `now says ${line.slice(0, 100)}`),
    ...(isTest && swallowed(path, plain.after) > swallowed(path, plain.before ?? '')
      ? ['an assertion that fails is caught and dropped']
      : []),
  ];
}

const stripped = (path: string, text: string | null): string | null =>
  text === null ? null : withoutComments(path, text);

function swallowed(path: string, text: string): number {
  const tried = [...text.matchAll(SWALLOWED)].map(
    ({ groups }) => groups?.['tried'] ?? groups?.['block'] ?? '',
  );
  return tried.filter((body) => countAsserts(path, body).asserts > 0).length;
}

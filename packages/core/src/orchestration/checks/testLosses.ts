import type { CheckResult, TestLoss } from '../ports.ts';
import { type CheckSummary, ranCases } from './CheckSummary.ts';
import type { FileVersions } from './FileVersions.ts';
import { isTestFile } from './isTestFile.ts';
import { lostCases } from './lostCases.ts';
import { readCases } from './readCases.ts';
import { skipMarks } from './skipMarks.ts';
import { weakenedLines } from './weakenedLines.ts';
import { weakenedManifest } from './weakenedManifest.ts';
import { weakenedSource } from './weakenedSource.ts';
import { weakenedTsConfig } from './weakenedTsConfig.ts';

export interface ChangedTests {
  /** All files that differ, also those that are no tests. A renamed one is two. */
  readonly files: readonly FileVersions[];
  /** The checks on the tree before; `null` where they are not known. */
  readonly before: CheckSummary | null;
  /** The checks on the tree after, once they have passed. */
  readonly now: CheckResult | null;
}

/**
 * What tests lose by a change: files, cases, assertions, cases that no longer run, and what judges them. It reads
 * sources, so it takes what it does not know for no loss; what ordinary work does (a case added, renamed or moved, a
 * dependency, a script beside) is none.
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
  return weakeningsOf(file, all).map((words) => ({ kind: 'weakened-check' as const, path, words }));
}

function weakeningsOf(file: FileVersions, all: readonly FileVersions[]): readonly string[] {
  const { path } = file;
  if (/(?:^|\/)package\.json$/.test(path)) return weakenedManifest(file);
  const isConfig = isCheckConfig(path);
  if (!isConfig && !isCiConfig(path) && !isTsConfig(path)) {
    return weakenedSource(file, isTestFile(path) || /(?:^|\/)(?:tests?|__tests__|spec)\//.test(path));
  }
  if (file.after === null) return all.some((other) => isHeirFile(other, file)) ? [] : ['deleted'];
  if (isTsConfig(path)) return weakenedTsConfig(file);
  return weakenedLines(file);
}

/** The same settings in a file of another ending. */
function isHeirFile(other: FileVersions, { path, before }: FileVersions): boolean {
  if (other.before !== null || other.after === null) return false;
  const stem = (name: string): string =>
    name.replace(/^.*\//, '').replace(/\.(?:[cm]?[jt]s|jsonc?|ya?ml)$/, '');
  return stem(other.path) === stem(path) && weakenedLines({ path, before, after: other.after }).length === 0;
}

function fewer(before: CheckSummary | null, now: CheckResult | null): readonly TestLoss[] {
  const had = before?.cases ?? null;
  const has = ranCases(now?.cases);
  if (had === null || has === null || now?.passed !== true || has >= had) return [];
  return [{ kind: 'fewer-cases', path: null, words: `${has} cases ran, where ${had} did before` }];
}

const CONFIGS: readonly RegExp[] = [
  /(?:^|\/)(?:vitest|vite|jest|ava|karma|playwright|cypress|wdio|web-test-runner|stryker|eslint|prettier|xo|stylelint|commitlint)\.(?:config|conf|workspace|setup)\.[cm]?[jt]s(?:on)?$/,
  /(?:^|\/)vitest\.workspace\.[jt]s$|(?:^|\/)(?:jest|vitest)[.-](?:setup|preset)[\w.-]*\.[cm]?[jt]s$|(?:^|\/)setupTests\.[jt]sx?$/,
  /(?:^|\/)\.(?:mocharc|eslintrc|prettierrc|stylelintrc|xo-config|nycrc|c8rc|taprc|oxlintrc|swcrc|babelrc)(?:\.[a-z]+)?$/,
  /(?:^|\/)\.(?:eslintignore|prettierignore|stylelintignore|npmrc|coveragerc|flake8|pylintrc|rspec|rubocop\.yml|golangci\.ya?ml)$/,
  /(?:^|\/)(?:biome|oxlint|deno|nx|turbo|lerna|codecov|c8|jasmine)\.jsonc?$|(?:^|\/)codecov\.ya?ml$/,
  /(?:^|\/)(?:pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|conftest\.py|mypy\.ini|ruff\.toml|\.ruff\.toml)$/,
  /(?:^|\/)(?:Makefile|GNUmakefile|justfile|Justfile|Taskfile\.ya?ml|Rakefile|build\.gradle(?:\.kts)?|pom\.xml|phpunit\.xml(?:\.dist)?|clippy\.toml|\.clippy\.toml)$/,
  /(?:^|\/)devs\.config\.json$|(?:^|\/)\.devs(?:\/|\.json$)/,
];
const CI =
  /^\.github\/(?:workflows|actions)\/|^\.gitlab-ci\.yml$|^\.circleci\/|^azure-pipelines\.ya?ml$|^\.travis\.yml$|^Jenkinsfile$|^\.husky\/|^lefthook\.ya?ml$|^\.pre-commit-config\.yaml$/;

/** Whether a file says what the checks of a project are, or how strict. */
const isCheckConfig = (path: string): boolean => CONFIGS.some((pattern) => pattern.test(path));

/** Whether a file says what runs on a server, or before a commit. */
const isCiConfig = (path: string): boolean => CI.test(path);

const isTsConfig = (path: string): boolean => /(?:^|\/)[jt]sconfig(?:\.[\w-]+)?\.json$/.test(path);

// Settings that ask less than before: `package.json`, `tsconfig.json`, and the files of other tools line by line.

import { isRecord } from '../../values/isRecord.ts';
import { type FileVersions, linesOnlyIn } from './testSource.ts';

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

/** Whether a file defines the checks of a project, or how strict they are. */
const isCheckConfig = (path: string): boolean => CONFIGS.some((pattern) => pattern.test(path));

/** Whether a file defines the checks on a server, or before a commit. */
const isCiConfig = (path: string): boolean => CI.test(path);

const isTsConfig = (path: string): boolean => /(?:^|\/)[jt]sconfig(?:\.[\w-]+)?\.json$/.test(path);

/**
 * Returns how a file of settings asks less than before; `null` for another kind of file.
 *
 * @param all - All files that differ: the same settings may be in another one.
 */
export function weakenedSettings(file: FileVersions, all: readonly FileVersions[]): readonly string[] | null {
  const { path } = file;
  if (/(?:^|\/)package\.json$/.test(path)) return weakenedManifest(file);
  const isConfig = isCheckConfig(path) || isCiConfig(path);
  if (!isConfig && !isTsConfig(path)) return null;
  if (file.after === null) return all.some((other) => isHeirFile(other, file)) ? [] : ['deleted'];
  return isTsConfig(path) ? weakenedTsConfig(file) : weakenedLines(file);
}

/** The same settings in a file of another ending. */
function isHeirFile(other: FileVersions, { path, before }: FileVersions): boolean {
  if (other.before !== null || other.after === null) return false;
  const stem = (name: string): string =>
    name.replace(/^.*\//, '').replace(/\.(?:[cm]?[jt]s|jsonc?|ya?ml)$/, '');
  return stem(other.path) === stem(path) && weakenedLines({ path, before, after: other.after }).length === 0;
}

type ManifestJson = Readonly<Record<string, unknown>>;

/** Scripts that judge, beside those they call. */
const JUDGE = /^(?:pre|post)?(?:test|lint|type-?check|types|check|verify|ci|coverage|attw|tsd)(?::.*)?$/;

const RUNNER_SETTINGS = [
  'ava',
  'c8',
  'eslintConfig',
  'eslintIgnore',
  'jest',
  'mocha',
  'nyc',
  'prettier',
  'standard',
  'stylelint',
  'tap',
  'tsd',
  'vitest',
  'xo',
];
const RUNNERS =
  /^(?:ava|jasmine|jest|mocha|tap|tape|uvu|vitest|@jest\/.*|@vitest\/.*|@playwright\/test|cypress|chai|should|sinon|power-assert|xo|standard|eslint|@biomejs\/biome|oxlint|prettier|stylelint|typescript|tsd|@arethetypeswrong\/cli|c8|nyc)$/;
const ELSEWHERE = /^(?:file:|link:|portal:|workspace:|npm:|git|https?:|\.|\/)/;
const SWALLOWS =
  /\|\||;|\bexit\s+0\b|(?:^|&&)\s*true\b|\|\s*(?:cat|tee)\b|--(?:passWithNoTests|pass-with-no-tests|no-fail|exit-zero|update-?snapshots?|updateSnapshot|fix)\b|\s-u\b/;
const SABOTAGES = /\|\||;|\bexit\b|\brm\b|\bsed\b|\bmv\b|\bcp\b|\bgit\b/;
const PLACEHOLDER = /no test specified/;

/** What a `package.json` no longer asks of the work: scripts that judge, settings of runners, and the runners. */
function weakenedManifest({ before, after }: FileVersions): readonly string[] {
  const old = parseManifest(before);
  const now = parseManifest(after);
  if (old === null) return [];
  if (now === null) return ['it can no longer be read'];
  return [...scripts(old, now), ...settings(old, now), ...replacedDependencies(old, now)];
}

function scripts(old: ManifestJson, now: ManifestJson): readonly string[] {
  const had = stringMembers(old['scripts']);
  const has = stringMembers(now['scripts']);
  const judges = judgesOf(had);
  const fresh = Object.keys(has).filter(
    (name) => /^(?:pre|post)/.test(name) && judges.has(name.replace(/^(?:pre|post)/, '')),
  );
  return [
    ...[...judges]
      .filter((name) => isWeaker(had[name] ?? '', has[name]))
      .map((name) => `its script "${name}" is another: ${has[name] ?? 'none'}`),
    ...fresh
      .filter((name) => had[name] === undefined && SABOTAGES.test(has[name] ?? ''))
      .map((name) => `it has a new script "${name}": ${has[name]}`),
  ];
}

/** The scripts that judge, and the scripts they run. */
function judgesOf(scripts: Readonly<Record<string, string>>): ReadonlySet<string> {
  const judges = new Set(Object.keys(scripts).filter((name) => JUDGE.test(name)));
  for (const name of judges) {
    const called = (scripts[name] ?? '').matchAll(
      /\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+|-s\s+|run-script\s+)*([\w:.-]+)|\brun-[sp]\s+([\w:. -]+)/g,
    );
    const names = [...called].flatMap(([, one = '', several = '']) => [one, ...several.split(' ')]);
    for (const found of names) if (scripts[found] !== undefined) judges.add(found);
  }
  return judges;
}

/** A script may get longer; what it asked before it must ask still. */
function isWeaker(had: string, has: string | undefined): boolean {
  if (had === has || PLACEHOLDER.test(had)) return false;
  if (has === undefined) return true;
  const pieces = new Set(has.split('&&').map((piece) => piece.trim()));
  const keeps = had.split('&&').every((piece) => pieces.has(piece.trim()));
  const added = [...pieces].filter((piece) => !had.includes(piece)).join(' && ');
  return !keeps || SWALLOWS.test(added);
}

function settings(old: ManifestJson, now: ManifestJson): readonly string[] {
  return RUNNER_SETTINGS.flatMap((key) => {
    if (old[key] !== undefined && now[key] === undefined) return [`it has no settings of "${key}" any more`];
    return weakenedLines({ path: key, before: jsonOrNull(old[key]), after: jsonOrNull(now[key]) }).map(
      (words) => `${key}: ${words}`,
    );
  });
}

const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

function replacedDependencies(old: ManifestJson, now: ManifestJson): readonly string[] {
  const had = allDependencies(old);
  return Object.entries(allDependencies(now))
    .filter(([name, version]) => RUNNERS.test(name) && ELSEWHERE.test(version) && had[name] !== version)
    .map(([name, version]) => `"${name}" is taken from ${version}`);
}

function allDependencies(manifest: ManifestJson): Readonly<Record<string, string>> {
  const keys = ['dependencies', 'devDependencies', 'overrides', 'resolutions'];
  return Object.assign({}, ...keys.map((key) => stringMembers(manifest[key])));
}

function stringMembers(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, text]) => typeof text === 'string'));
}

function parseManifest(text: string | null): ManifestJson | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as ManifestJson) : null;
  } catch {
    return null;
  }
}

const STRICT_OPTIONS =
  /^(?:strict.*|alwaysStrict|noImplicit.*|noUnused.*|noUnchecked.*|noFallthrough.*|noPropertyAccess.*|exactOptional.*|useUnknown.*|isolated.*|erasableSyntaxOnly|verbatimModuleSyntax|checkJs|forceConsistentCasing.*)$/;

const LAX_OPTIONS =
  /^(?:skipLibCheck|skipDefaultLibCheck|noCheck|suppress.*|allowUnreachableCode|allowUnusedLabels)$/;

const BUILD_FOLDERS = /\b(?:dist|build|coverage|node_modules|out|lib)\b/;

interface Config {
  readonly extends?: unknown;
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
  readonly include?: readonly string[];
  readonly files?: readonly string[];
  readonly exclude?: readonly string[];
}

/** What a `tsconfig.json` no longer asks; its other settings say what is built, not how strictly. */
export function weakenedTsConfig(file: FileVersions): readonly string[] {
  const old = parseTsConfig(file.before);
  const now = parseTsConfig(file.after);
  if (old === null) return [];
  if (now === null) return weakenedLines(file);
  const had = old.compilerOptions ?? {};
  const has = now.compilerOptions ?? {};
  return [
    ...Object.keys(had).filter(
      (key) => STRICT_OPTIONS.test(key) && had[key] === true && has[key] !== true && !isImplied(key, has),
    ),
    ...Object.keys(has).filter((key) => LAX_OPTIONS.test(key) && has[key] === true && had[key] !== true),
    ...Object.keys(has).filter(
      (key) => STRICT_OPTIONS.test(key) && has[key] === false && had[key] === undefined,
    ),
    ...itemsGone(old.include, now.include).map((glob) => `include ${glob}`),
    ...itemsGone(old.files, now.files).map((glob) => `files ${glob}`),
    ...itemsGone(now.exclude ?? [], old.exclude ?? [])
      .filter((glob) => !BUILD_FOLDERS.test(glob))
      .map((glob) => `exclude ${glob}`),
    ...(old.extends !== undefined && JSON.stringify(old.extends) !== JSON.stringify(now.extends)
      ? ['extends']
      : []),
  ].map((what) => `it is less strict: ${what}`);
}

/** `strict` contains what its name begins with. */
const isImplied = (key: string, has: Readonly<Record<string, unknown>>): boolean =>
  has['strict'] === true &&
  has[key] === undefined &&
  /^(?:strict.+|alwaysStrict|noImplicit(?:Any|This)|useUnknown.*)$/.test(key);

/** Of no list at all everything is in. */
function itemsGone(
  from: readonly string[] | undefined,
  to: readonly string[] | undefined,
): readonly string[] {
  if (from === undefined) return [];
  return to === undefined ? [] : from.filter((glob) => !to.includes(glob));
}

function parseTsConfig(text: string | null): Config | null {
  const plain = (text ?? '').replaceAll(
    /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
    (_, kept: string | undefined) => kept ?? '',
  );
  try {
    const value: unknown = JSON.parse(plain.replaceAll(/,(?=\s*[}\]])/g, ''));
    return typeof value === 'object' && value !== null ? (value as Config) : null;
  } catch {
    return null;
  }
}

/** Weakens whatever it stands in. */
const SEVERE =
  /passWithNoTests|pass-with-no-tests|\|\|\s*(?:true|:|exit 0|echo)|continue-on-error:\s*true|allow_failure:\s*true|\bif:\s*(?:false|\$\{\{\s*false)|\bset \+e\b|\bexit 0\b|;\s*true\b|process\.exit\(|globalThis\.|global\.(?:it|test|expect|describe)|testFailureIgnore|ignoreFailures\s*=?\s*true|dangerouslyIgnore|\bexit-zero\b|hookwrapper|outcome\s*=|pytest_(?:collection_modifyitems|runtest_makereport|sessionfinish)|deselect|exitstatus|script-shell|^-\s*@?(?:npm|pnpm|yarn|pytest|go|cargo|make)\b.*test.*\|\||^-\w+ .*\btest|--no-verify|forceExit|noErrorOnUnmatchedPattern|--if-present|-DskipTests|maven\.test\.skip|skipTests/;
/** Weakens a file that was there before. */
const MILD =
  /\b(?:exclude|excludes|excludedFiles|excludePatterns|ignore|ignores|ignored|ignorePatterns|testPathIgnorePatterns|coveragePathIgnorePatterns|per-file-ignores|extend-ignore|norecursedirs|omit|collect_ignore)\b|['"]off['"]|['"]warn(?:ing)?['"]|:\s*\[?\s*['"]?0['"]?[,\]]?$|\bretr(?:y|ies)\b|testNamePattern|\bgrep\b|--grep|\binvert\b|\bskip\b|-k\s+['"\w]|--ignore|enabled['"]?\s*:\s*false|updateSnapshot|\ballowOnly\b|ignore-path|disable\s*=|disable:|reportOnFailure|strict['"]?\s*[:=]\s*(?:false|False)|\bxfail\b|ignore_errors|ignore_missing_imports|\ballow\s*=/;
const OF_TESTS = /test|spec/i;
const MADE =
  /\b(?:dist|build|coverage|node_modules|\.?next|generated|out|vendor|target|\.venv|lib|\.turbo|\.cache|tmp)\b/;
const STRICT =
  /\b(?:include|includes|files|file|spec|specs|testMatch|testRegex|testpaths|roots|projects|extends|recommended|strict|checkCoverage|check-coverage|thresholds?|coverageThreshold|typecheck|fail_under|failOn|require|python_files|addopts|deny|all)\b|['"]?error['"]?\b|\b(?:lines|functions|branches|statements|global)\b/;
const COMMAND =
  /\b(?:npm|pnpm|yarn|bun|npx|node|make|tox|nox|pytest|cargo|go|mvn|gradle\w*|phpunit|rspec|rake|xo|ava|vitest|jest|mocha|eslint|biome|tsc|tsd)\b.*\b(?:test|t|lint|check|verify|typecheck|ci|clippy|vet|coverage)\b|^(?:-?\s*run:\s*)?@?(?:pytest|xo|ava|vitest|jest|mocha|eslint|biome|tsc|tsd|tox|phpunit|rspec|ruff|mypy)\b/;
const NUMBER = /^['"]?([\w.-]+)['"]?\s*[:=]\s*(\d+(?:\.\d+)?)\D?$/;

/** What a file of settings no longer asks, line by line: languages differ, the words hardly do. */
function weakenedLines(file: FileVersions): readonly string[] {
  const before = flatText(file.before);
  const after = flatText(file.after);
  const added = linesOnlyIn(after, before).filter(isNoComment);
  const removed = linesOnlyIn(before, after).filter(isNoComment);
  const weakening = added.filter((line) => SEVERE.test(line) || isMild(line, before === null));
  const gone = removed.filter((line) => isMissed(line, added));
  return [
    ...weakening.map((line) => `now says ${clipLine(line)}`),
    ...gone.map((line) => `no longer says ${clipLine(line)}`),
  ];
}

const flatText = (text: string | null): string | null => (text === null ? null : (flatJson(text) ?? text));

const isNoComment = (line: string): boolean => !/^(?:\/\/|\/\*|\*|#|;)/.test(line);

function isMild(line: string, isNew: boolean): boolean {
  if (!MILD.test(line)) return false;
  return isNew ? OF_TESTS.test(line) : !MADE.test(line) || OF_TESTS.test(line);
}

function isMissed(line: string, added: readonly string[]): boolean {
  const number = NUMBER.exec(line);
  if (number !== null) return isLower(number, added);
  if (MILD.test(line) || SEVERE.test(line)) return false;
  if (COMMAND.test(line)) return !added.some((other) => other.includes(line.replace(/^-?\s*run:\s*/, '')));
  if (!STRICT.test(line)) return false;
  const words = new Set(added.flatMap((other) => other.match(WORD) ?? []));
  return !(line.match(WORD) ?? []).every((word) => words.has(word));
}

const WORD = /[\w@.*/-]+/g;

/** A threshold that fell, or is gone. */
function isLower([line, key = '', value]: RegExpExecArray, added: readonly string[]): boolean {
  if (!STRICT.test(key)) return false;
  const now = added.map((other) => NUMBER.exec(other)).filter((other) => other?.[1] === key);
  if (now.length === 0) return !added.includes(line);
  return now.every((other) => Number(other?.[2]) < Number(value));
}

const clipLine = (line: string): string => (line.length > 100 ? `${line.slice(0, 100)}…` : line);

/**
 * Settings as one line each, `rules.no-console: "off"`: a list is one value, however it is laid out.
 *
 * @returns `null` where the text is no JSON object.
 */
function flatJson(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? flatLines(value, []).join('\n') : null;
  } catch {
    return null;
  }
}

function flatLines(value: object, path: readonly string[]): readonly string[] {
  return Object.entries(value).flatMap(([key, inner]: readonly [string, unknown]) => {
    const here = [...path, key];
    return isRecord(inner) ? flatLines(inner, here) : [`${here.join('.')}: ${JSON.stringify(inner)}`];
  });
}

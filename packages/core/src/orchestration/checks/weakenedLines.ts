import { isRecord } from '../../engine/isRecord.ts';
import { type FileVersions, linesOnlyIn } from './FileVersions.ts';

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
export function weakenedLines(file: FileVersions): readonly string[] {
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

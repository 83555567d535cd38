// Sources of tests in several languages: which files are tests, their cases, assertions and skip marks.
import type { TestLoss } from '../ports.ts';

/** A file before and after a change; `null` where there is none, or it is no text. */
export interface FileVersions {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Lines that one text has and the other has not, trimmed, empty ones left out; one that moved is in neither. */
export function linesOnlyIn(text: string | null, other: string | null): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of trimmedLines(other)) counts.set(line, (counts.get(line) ?? 0) + 1);
  return trimmedLines(text).filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}

const trimmedLines = (text: string | null): readonly string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');

const NAMED =
  /(?:^|[./_-])(?:test|tests|spec|specs|test-d|e2e)\.[a-z]+$|(?:^|\/)test_[^/]+\.py$|(?:^|\/)test-[^/]+\.[cm]?[jt]sx?$|_test\.(?:go|py|rs|exs|dart|cc|cpp)$|_spec\.rb$|_test\.rb$|(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|php|swift|groovy)$/;
const IN_FOLDER = /(?:^|\/)(?:__tests__|tests?|specs?)\//;
const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|php|swift|exs?|scala|dart|sh|bats|vue|svelte)$/;
const MADE_FOR_TESTS = /(?:^|\/)(?:fixtures?|__fixtures__|__mocks__|mocks|helpers?|support|data)\//;

/** Whether a file holds tests, by its path. */
export function isTestFile(path: string): boolean {
  if (MADE_FOR_TESTS.test(path) || !CODE.test(path)) return false;
  return NAMED.test(path) || IN_FOLDER.test(path) || path.endsWith('.bats');
}

/** Languages in which `#` begins a comment. */
const HASH = /\.(?:py|rb|sh|exs?|bats)$/;
const SLASHES = /(["'`])(?:\\.|(?!\1)[^\\\n])*\1|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const HASHES = /("""|''')[\s\S]*?\1|(["'])(?:\\.|(?!\2)[^\\\n])*\2|#[^\n]*/g;

/** A source without its comments. String literals stay. */
export function withoutComments(path: string, source: string): string {
  const pattern = HASH.test(path) ? HASHES : SLASHES;
  return source.replaceAll(pattern, (found) => (/^(?:\/\/|\/\*|#)/.test(found) ? '' : found));
}

/** A source without its comments and with every text in it empty: what is left is code. */
function codeOnly(path: string, source: string): string {
  const pattern = HASH.test(path) ? HASHES : SLASHES;
  return source.replaceAll(pattern, (found) => (/^(?:\/\/|\/\*|#)/.test(found) ? '' : "''"));
}

/** A test case as its source has it. */
export interface SourceCase {
  readonly title: string;
  /** From its title to the next case. Without comments. */
  readonly body: string;
  /** Assertions that can fail. */
  readonly asserts: number;
  /** Of them, those that say which value is expected. */
  readonly exact: number;
}

const HEADS: readonly RegExp[] = [
  // it('…'), test.each(…)('…'), t.test("…"), Deno.test(`…`)
  /^[^\S\n]*(?:await\s+|return\s+|export\s+)*(?:[xf]?(?:it|test)|t\.test|Deno\.test|specify|tap\.test)\b(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\)(?=\s*\(\s*["'`])|\.each`[^`]*`)?\s*\(\s*(["'`])(?<title>(?:\\.|(?!\1)[^\\])*)\1/gm,
  /^[^\S\n]*(?:async\s+)?def\s+(?<title>test\w*)\s*\(/gm,
  /^func\s+(?<title>(?:Test|Fuzz|Example)\w*)\s*\(/gm,
  /#\[(?:\w+::)*test(?:\([^)]*\))?\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(?<title>\w+)/g,
  /@(?:Parameterized)?Test\b(?:\([^)]*\))?\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:public\s+|private\s+|internal\s+)?(?:suspend\s+)?(?:void|fun|final void)\s+(?<title>`[^`]+`|\w+)/g,
  /\[(?:Fact|Theory|Test|TestMethod)(?:\([^)]*\))?\]\s*(?:\[[^\]]*\]\s*)*public\s+(?:async\s+)?\w+\s+(?<title>\w+)/g,
  /^[^\S\n]*(?:x?it|specify|test|scenario)\s+(["'])(?<title>(?:\\.|(?!\1)[^\\])*)\1\s*(?:,[^\n]*)?\s+do\b/gm,
  /^[^\S\n]*public\s+function\s+(?<title>test\w*)\s*\(/gm,
  /^@test\s+(["'])(?<title>[^"'\n]+)\1/gm,
];

const ASSERT =
  /\bexpect(?:TypeOf|Type|Error|Assignable|NotAssignable)?\s*(?:<[^>\n]*>)?\s*\(|\bassert\w*(?:\.\w+)*!?\s*(?:\(|(?=[^\s=.,)]))|\bassert\s+\S|\bt(?:ap)?\.(?:is|not|deepEqual|like|true|false|truthy|falsy|throws\w*|notThrows\w*|regex|snapshot|equal|same|strictEqual|ok|match|rejects|doesNotThrow|Error\w*|Fatal\w*|assert)\s*\(|\.should\b|\brequire\.\w+\(|\b(?:pytest\.raises|self\.assert\w*)\s*\(|\bExpect\(|\bmust\w+\s/g;
// What holds whatever the code does: of a literal.
const HOLLOW =
  /\bexpect\s*\(\s*(?:true|True|false|null|undefined|\d+|'')\s*\)|\bassert\w*(?:\.\w+)?!?\s*\(\s*(?:true|True|false|null|undefined|\d+|'')\s*(?:,\s*(?:true|True|false|null|undefined|\d+|'')\s*)*\)|\bassert\s+(?:True|1)\b|\bt(?:ap)?\.\w+\(\s*(?:true|True|false|null|undefined|\d+|'')\s*(?:,\s*(?:true|True|false|null|undefined|\d+|'')\s*)*\)/g;
const VAGUE =
  /\.(?:not\.)?to(?:BeDefined|BeTruthy|BeFalsy|BeUndefined|BeNull|Throw)\s*\(\s*\)|\.(?:toBe|toEqual)\s*\(\s*(?:true|false)\s*\)|\bassert\.ok\s*\(|\bassert\s*\(|\bt\.(?:truthy|falsy|true|false|ok|notThrows\w*|assert)\s*\(|\bassert\s+[\w.()[\]]+(?:\s+is\s+not\s+None)?\s*$|\bassertTrue\s*\(|\bassertIsNotNone\s*\(|\bassert!\s*\(/gm;

/** The test cases of a source, in several languages; none where none is known. */
export function readCases(path: string, source: string): readonly SourceCase[] {
  const text = withoutComments(path, source);
  const heads = HEADS.flatMap((head) => [...text.matchAll(head)]).sort((a, b) => a.index - b.index);
  return heads.map((head, at) => {
    const body = reachable(text.slice(head.index + head[0].length, heads[at + 1]?.index));
    return { title: head.groups?.['title'] ?? '', body, ...countAsserts(path, body) };
  });
}

/** Assertions of a source, also outside a case. */
export function countAsserts(path: string, source: string): Pick<SourceCase, 'asserts' | 'exact'> {
  const code = codeOnly(path, source);
  const asserts = countMatches(code, ASSERT) - countMatches(code, HOLLOW);
  return { asserts: Math.max(0, asserts), exact: Math.max(0, asserts - countMatches(code, VAGUE)) };
}

/** What stands before a `return` at the level of the case's first statement: what follows never runs. */
function reachable(body: string): string {
  const indent = /\n([^\S\n]+)\S/.exec(body)?.[1];
  if (indent === undefined) return body;
  const end = body.search(new RegExp(`\\n${indent}(?:return\\b;?[^\\S\\n]*\\n|process\\.exit\\()`));
  return end === -1 ? body : body.slice(0, end);
}

const countMatches = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

/** A way to keep a test from running, or from failing. */
export interface SkipMark {
  readonly kind: Extract<TestLoss['kind'], 'skipped' | 'only'>;
  /** As it stands in the source. */
  readonly text: string;
  /** Whether it depends on where it runs: a new case may have that. */
  readonly isConditional: boolean;
}

const CASE = String.raw`\b(?:it|test|describe|suite|context|specify|bench|t|tap|Deno\.test)`;
const ONLY = new RegExp(
  `${CASE}(?:\\.\\w+)*\\.only\\b|\\b(?:fit|fdescribe|fcontext)\\s*\\(|[{,]\\s*only:\\s*true\\b|\\bfocus:\\s*true\\b`,
  'g',
);
const SKIPPED = new RegExp(
  [
    String.raw`${CASE}(?:\.\w+)*\.(?:skip|todo|failing|fails|fixme|ignore)\b`,
    String.raw`\b(?:xit|xtest|xdescribe|xcontext|xspecify)\s*[('"]`,
    String.raw`[{,]\s*(?:skip|todo|ignore):\s*(?:true\b|'')`,
    String.raw`\bthis\.skip\s*\(`,
    String.raw`@(?:pytest\.mark\.(?:skip|xfail)|unittest\.(?:skip|expectedFailure)|skip)\b(?!If|if)`,
    String.raw`\bpytestmark\s*=\s*pytest\.mark\.(?:skip|xfail)\b`,
    String.raw`\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bself\.skipTest\s*\(|\bcollect_ignore\b|\b__test__\s*=\s*False`,
    String.raw`\bt\.Skip(?:f|Now)?\s*\(|^//go:build\s+ignore`,
    String.raw`#\[ignore\b|@(?:Disabled|Ignore)\b|\[Ignore\b|\bSkip\s*=\s*''|\bmarkTest(?:Skipped|Incomplete)\s*\(`,
    String.raw`@tag\s+:?skip\b|\bXCTSkip\w*\(|^\s*(?:skip|pending)(?:\s+''|\s*$|\()`,
  ].join('|'),
  'gm',
);
const CONDITIONAL =
  /\b(?:it|test|describe)(?:\.\w+)*\.(?:skipIf|runIf)\b|@pytest\.mark\.skipif\b|@unittest\.skip(?:If|Unless)\b|[{,]\s*(?:skip|todo):\s*(?!true\b|false\b|'')[\w!]|@(?:Enabled|Disabled)(?:If|On)\w*|#\[cfg_attr\([^)]*ignore/g;
/** The condition under which the checks themselves run: it skips always. */
const ON_CI = /process\.env\.(?:CI|VITEST|NODE_ENV|JEST_WORKER_ID|NODE_TEST_CONTEXT)\b|environ[^\n]*''/;

/** What keeps the tests of a source from running. Of its comments and texts nothing counts. */
export function skipMarks(path: string, source: string): readonly SkipMark[] {
  const code = codeOnly(path, source).replaceAll(/^\s*(?=@pytest)/gm, '');
  const goIgnored = path.endsWith('.go') && /^\/\/go:build\s+ignore/m.test(source);
  return [
    ...matchedMarks(code, ONLY).map((text) => mark('only', text)),
    ...matchedMarks(code, SKIPPED).map((text) => mark('skipped', text)),
    ...matchedMarks(code, CONDITIONAL).map((text) =>
      mark('skipped', text, !ON_CI.test(lineWith(code, text))),
    ),
    ...(goIgnored ? [mark('skipped', '//go:build ignore')] : []),
  ];
}

const mark = (kind: SkipMark['kind'], text: string, isConditional = false): SkipMark => ({
  kind,
  text,
  isConditional,
});

const matchedMarks = (code: string, pattern: RegExp): readonly string[] =>
  [...code.matchAll(pattern)].map(([text]) =>
    text
      .replaceAll(/\s+/g, ' ')
      .trim()
      .replace(/^[{,]\s*|\s*[('"]$/g, ''),
  );

function lineWith(code: string, text: string): string {
  return code.split('\n').find((line) => line.includes(text)) ?? '';
}

import type { TestLoss } from '../ports.ts';
import { codeOnly } from './readCode.ts';

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

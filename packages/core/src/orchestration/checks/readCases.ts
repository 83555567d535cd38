import { codeOnly, withoutComments } from './readCode.ts';

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

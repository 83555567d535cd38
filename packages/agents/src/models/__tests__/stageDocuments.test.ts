import { describe, expect, test } from 'vitest';
import { readClaims, submitDesign, submitReports } from '../stageAnswers.ts';

const documents = (contents: Readonly<Record<string, string>>) => ({
  documents: Object.entries(contents).map(([type, content]) => ({ type, title: type, content })),
});

const CLAIMS =
  '# Found\n\n## Claims\n\n- [sourced: RFC 4180] Fields are quoted.\n- [unsourced] People like it.\n';
const REPORTS = { MARKET: CLAIMS, COMPETITION: CLAIMS, TECHNOLOGY: CLAIMS, USERS: CLAIMS };
const LEFT_OUT = '# Parts\n\n## Left out\n- MCP_DESIGN: no agents use it\n- UI_UX: a library\n\n## End\n';
const DESIGN = { PRD: 'What.', TAS: LEFT_OUT, SECURITY: 'No input is trusted.' };

type Tool = ReturnType<typeof submitReports>;

const problemsIn = ({ schema }: Tool, answer: unknown): readonly string[] =>
  schema.safeParse(answer).error?.issues.map(({ message }) => message) ?? [];

describe('the claims of a report', () => {
  test('are read with what they rest on', () => {
    expect(readClaims(CLAIMS)).toEqual([
      { text: 'Fields are quoted.', source: 'RFC 4180' },
      { text: 'People like it.', source: null },
    ]);
  });

  test.for([
    ['no list', '# Found\n\nMuch.', 'it lists no claims under "## Claims"'],
    ['an empty list', '## Claims\n\n## End\n- [unsourced] Late.', 'it lists no claims under "## Claims"'],
    ['a line without a mark', '## Claims\n- It is so.', '"It is so." is marked neither'],
    ['a source that is not named', '## Claims\n- [sourced: ] It is so.', 'is marked neither'],
  ] as const)('are not found in %s', ([, report, problem]) => {
    expect(readClaims(report)).toContain(problem);
  });
});

describe('the reports a model hands in, prompts v1', () => {
  test('are taken when all four are there and every claim is marked', () => {
    expect(problemsIn(submitReports('v1'), documents(REPORTS))).toEqual([]);
  });

  test('are sent back with the report that is missing or unmarked', () => {
    const { USERS: _users, ...others } = REPORTS;
    expect(problemsIn(submitReports('v1'), documents({ ...others, MARKET: 'Large.' }))).toEqual([
      'USERS is missing',
      'MARKET: it lists no claims under "## Claims"',
    ]);
  });
});

describe('the design a model hands in, prompts v1', () => {
  test('is taken when it says why a document does not apply', () => {
    expect(problemsIn(submitDesign('v1'), documents(DESIGN))).toEqual([]);
  });

  test('is sent back without the two documents it always has, and without a reason', () => {
    expect(problemsIn(submitDesign('v1'), documents({ ...DESIGN, TAS: '# Parts\n' }))).toEqual([
      'MCP_DESIGN is neither handed in nor under "## Left out" of the TAS with a reason',
      'UI_UX is neither handed in nor under "## Left out" of the TAS with a reason',
    ]);
    expect(problemsIn(submitDesign('v1'), documents({ SECURITY: 'x', MCP_DESIGN: 'x', UI_UX: 'x' }))).toEqual(
      ['PRD is missing', 'TAS is missing'],
    );
  });

  test('has one document of a type, and leaves the brief alone', () => {
    const { documents: own } = documents(DESIGN);
    const brief = { type: 'BRIEF', title: 'x', content: 'x' };
    expect(problemsIn(submitDesign('v1'), { documents: [...own, ...own, brief] })).toEqual([
      'a type is used twice',
      'the brief belongs to the human and cannot be replaced',
    ]);
  });
});

describe('since prompts v2', () => {
  test('no report about markets is needed, and every claim is marked', () => {
    const tool = submitReports('v2');
    expect(problemsIn(tool, documents({ TECHNOLOGY: CLAIMS }))).toEqual([]);
    expect(problemsIn(tool, documents({ TECHNOLOGY: 'Small.' }))).toEqual([
      'TECHNOLOGY: it lists no claims under "## Claims"',
    ]);
    expect(problemsIn(tool, documents({}))).toEqual(['there is no report']);
  });

  test('a design needs no reason for what it leaves out', () => {
    expect(problemsIn(submitDesign('v2'), documents({ PRD: 'What.', TAS: '# Parts\n' }))).toEqual([]);
    expect(problemsIn(submitDesign('v2'), documents({ PRD: 'What.' }))).toEqual(['TAS is missing']);
  });
});

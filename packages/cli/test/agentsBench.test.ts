import { expect, test } from 'vitest';
import { nextStep, partOf, type Saying } from '../bench/agents/developer.ts';
import { ratiosOf } from '../bench/agents/figures.ts';
import type { Job } from '../bench/agents/Job.ts';
import { ModelOffice } from '../bench/agents/ModelOffice.ts';
import type { Row } from '../bench/agents/measure.ts';
import { talkOf } from '../bench/agents/Talk.ts';

const JOB: Job = {
  name: 'sum',
  repository: 'somebody/sum',
  commit: '0',
  tools: {},
  checks: [{ name: 'test', argv: ['npm', 'test'] }],
  brief: '# Sum\n\n- 1 + 2 is 3\n',
  search: { text: 'sum', paths: ['.'] },
  test: [{ path: 'sum.test.js', content: 'test\n' }],
  code: [{ path: 'sum.js', find: 'return 0', replace: 'return a + b' }],
  docs: [{ path: 'README.md', find: 'Old', replace: 'New' }],
  message: 'fix: add',
  hidden: { path: 'unseen.js', content: '', argv: ['node', 'unseen.js'] },
};
const FILES = { 'sum.js': 'return 0', 'README.md': 'Old' } as const;

interface Client {
  readonly system: string;
  readonly tools: readonly string[];
  /** What it is asked, one after the other. */
  readonly asks: readonly string[];
}

/** Plays a client: carries out each tool, and goes on until the model says something. @returns tools by request */
function played({ system, tools, asks }: Client): readonly string[] {
  const files: Record<string, string> = { ...FILES };
  const messages: unknown[] = [];
  const said: string[] = [];
  const body = () => ({ system, tools: tools.map((name) => ({ name })), messages });
  for (const ask of asks) {
    messages.push({ role: 'user', content: ask });
    for (let isOver = false; !isOver; ) {
      const calls = callsOf(nextStep(JOB, talkOf(body())));
      said.push(calls.map(({ name }) => name).join('+') || 'words');
      messages.push({
        role: 'assistant',
        content: calls.map((call, at) => ({ type: 'tool_use', id: `${said.length}.${at}`, ...call })),
      });
      const results = calls.map((call, at) => ({
        type: 'tool_result',
        tool_use_id: `${said.length}.${at}`,
        ...carriedOut(files, call.input as Readonly<Record<string, string>>),
      }));
      messages.push({ role: 'user', content: results });
      isOver = calls.length === 0 || calls.some(({ name }) => ENDS.includes(name));
    }
  }
  expect(files).toEqual({ 'sum.test.js': 'test\n', 'sum.js': 'return a + b', 'README.md': 'New' });
  return said;
}

const ENDS = ['finish', 'submit_review'];

const callsOf = (say: Saying): readonly { readonly name: string; readonly input: unknown }[] =>
  say.kind === 'text' ? [] : say.kind === 'call' ? [{ name: say.name, input: say.input }] : say.calls;

function carriedOut(
  files: Record<string, string>,
  input: Readonly<Record<string, string>>,
): { readonly content: string; readonly is_error: boolean } {
  const path = input['path'] ?? input['file_path'];
  if (path === undefined)
    return { content: 'done', is_error: input['description']?.endsWith('red') === true };
  const find = input['find'] ?? input['old_string'];
  if (find !== undefined)
    files[path] = (files[path] ?? '').replace(find, input['replace'] ?? input['new_string'] ?? '');
  else if (input['content'] !== undefined) files[path] = input['content'];
  return { content: files[path] ?? '', is_error: false };
}

const TASK = '<task>\nAcceptance criteria:\n- 1 + 2 is 3\n</task>';
const STAGES = [
  `${TASK}\n\nStage: write the failing test of one task.`,
  'Stage: implement one task.',
  'Stage: document one finished task.',
];
const CLI = ['Bash', 'Read', 'Edit', 'Write'];
const LOOP = ['read_file', 'edit_file', 'finish'];

test('a CLI alone gets test, code, documentation and commit from the developer', () => {
  expect(played({ system: '', tools: CLI, asks: [JOB.brief] })).toEqual(
    // biome-ignore format: one line for each part
    ['Bash', 'Read',
     'Write', 'Bash',
     'Edit', 'Bash',
     'Read', 'Edit', 'Bash', 'words'],
  );
});

test('stages of one conversation get the same work, and no file is read twice', () => {
  expect(played({ system: '', tools: CLI, asks: STAGES })).toEqual(
    // biome-ignore format: one line for each stage
    ['Bash', 'Read', 'Write', 'words',
     'Edit', 'words',
     'Read', 'Edit', 'words'],
  );
});

test('several tools are called at once where the client says so, the end with the last edits', () => {
  const system = 'Call several tools in one answer; end the stage in the answer with them.';
  expect(played({ system, tools: LOOP, asks: STAGES })).toEqual(
    // biome-ignore format: one line for each stage
    ['search_text', 'read_file', 'write_file+finish',
     'edit_file+finish',
     'read_file', 'edit_file+finish'],
  );
});

test('a stage that begins a conversation reads what it was not told', () => {
  const code = (told: string): string =>
    nextStepNames({ system: '', tools: LOOP, asks: [`${told}\n\nStage: implement one task.`] });
  expect(code('<test_diff>\n+test\n</test_diff>')).toBe('read_file sum.js, edit_file sum.js');
  expect(code('')).toBe('read_file sum.js, read_file sum.test.js, edit_file sum.js');
});

const SHOWN = {
  code: '<file path="sum.js" from_line="1">\nreturn 0\n</file>',
  docs: '<file path="README.md" from_line="1">\nOld\n</file>',
  other: '<file path="README.md" from_line="9">\nElse\n</file>',
};

test('a file is not read, and nothing is looked for, where the request shows what is edited', () => {
  const system = 'Call several tools in one answer; end the stage in the answer with them.';
  const [test = '', code = '', docs = ''] = STAGES;
  const told = [`${SHOWN.code}\n\n${test}`, code, `${SHOWN.docs}\n\n${docs}`];
  expect(played({ system, tools: LOOP, asks: told })).toEqual([
    ...['write_file+finish', 'edit_file+finish', 'edit_file+finish'],
  ]);
  const other = [`${SHOWN.code}\n\n${test}`, code, `${SHOWN.other}\n\n${docs}`];
  expect(played({ system, tools: LOOP, asks: other }).slice(-2)).toEqual(['read_file', 'edit_file+finish']);
});

test('a review reads the changed file unless the diff has the code around each change', () => {
  const hunk = (range: string, before: number, after: number): string =>
    `@@ -${range} +${range} @@\n${' line\n'.repeat(before)}-return 0\n+return a + b\n${' line\n'.repeat(after)}`;
  const names = (hunks: string): unknown => {
    const diff = `<diff>\ndiff --git a/sum.js b/sum.js\n--- a/sum.js\n+++ b/sum.js\n${hunks}</diff>`;
    const messages = [{ role: 'user', content: `${TASK}\n\n${diff}\n\nStage: review` }];
    return callsOf(nextStep(JOB, talkOf({ tools: [{ name: 'read_file' }], messages }))).map(
      ({ name }) => name,
    );
  };
  expect(names(hunk('30,33', 16, 16))).toEqual(['submit_review']);
  expect(names(hunk('1,20', 3, 16))).toEqual(['submit_review']);
  expect(names(hunk('30,7', 3, 3))).toEqual(['read_file']);
  expect(names(hunk('30,33', 16, 16) + hunk('90,7', 3, 3))).toEqual(['read_file']);
});

function nextStepNames({ system, tools, asks }: Client): string {
  const messages: unknown[] = [{ role: 'user', content: asks[0] }];
  const names: string[] = [];
  for (;;) {
    const say = nextStep(JOB, talkOf({ system, tools: tools.map((name) => ({ name })), messages }));
    const [call] = callsOf(say);
    if (call === undefined || call.name === 'finish') return names.join(', ');
    names.push(`${call.name} ${(call.input as { readonly path: string }).path}`);
    messages.push({ role: 'assistant', content: [{ type: 'tool_use', id: `${names.length}`, ...call }] });
    const result = { type: 'tool_result', tool_use_id: `${names.length}`, content: '' };
    messages.push({ role: 'user', content: [result] });
  }
}

test('the review gives evidence for each criterion as it was told', () => {
  const body = {
    tools: [{ name: 'read_file' }],
    messages: [{ role: 'user', content: `${TASK}\nStage: review` }],
  };
  const read = { type: 'tool_use', id: '1', name: 'read_file', input: { path: 'sum.js' } };
  const told = { type: 'tool_result', tool_use_id: '1', content: 'return a + b' };
  const messages = [
    ...body.messages,
    { role: 'assistant', content: [read] },
    { role: 'user', content: [told] },
  ];
  expect(partOf(talkOf(body))).toBe('review');
  expect(nextStep(JOB, talkOf({ ...body, messages }))).toMatchObject({
    name: 'submit_review',
    input: { evidence: [{ criterion: '1 + 2 is 3' }] },
  });
});

test('requests are counted as they are sent, without marks, and what an earlier one began with is not new', async () => {
  const office = await ModelOffice.open(() => undefined);
  office.begin(JOB);
  const url = `${office.env['ANTHROPIC_BASE_URL']}/v1/messages`;
  const ask = async (text: string): Promise<unknown> => {
    const content = [{ type: 'text', text, cache_control: { type: 'ephemeral' } }];
    const body = { tools: [{ name: 'Bash' }], system: 'S', messages: [{ role: 'user', content }] };
    const headers = { 'x-api-key': office.env['ANTHROPIC_API_KEY'] ?? '' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await response.json()) as { readonly usage: unknown }).usage;
  };
  try {
    const sent = (text: string): number =>
      Math.ceil(
        JSON.stringify([[{ name: 'Bash' }], 'S', [{ role: 'user', content: [{ type: 'text', text }] }]])
          .length / 4,
      );
    await ask('Stage: implement');
    const usage = await ask('Stage: implement it');
    const [first, second] = office.counted;
    expect(first).toMatchObject({
      part: 'code',
      tools: ['Read'],
      input: sent('Stage: implement'),
      cached: 0,
    });
    expect(second).toMatchObject({ input: sent('Stage: implement it') });
    expect((second?.input ?? 0) - (second?.cached ?? 0)).toBeLessThan(5);
    expect(usage).toMatchObject({ cache_read_input_tokens: second?.cached, output_tokens: second?.output });
  } finally {
    await office.close();
  }
});

test('ratios are beside the CLI alone, of each repository and of all', () => {
  const row = (repository: string, way: Row['way'], requests: number): Row => ({
    ...{ repository, way, requests, tokensIn: 10 * requests, tokensNew: 0, tokensOut: 0 },
    ...{ minutes: 0, parts: {}, tree: '' },
  });
  const rows = [row('a', 'bare', 10), row('a', 'devs', 13), row('b', 'bare', 20), row('b', 'devs', 20)];
  expect(ratiosOf(rows).map(({ repository, requests }) => [repository, requests])).toEqual([
    ['a', 1.3],
    ['b', 1],
    ['all', 1.1],
  ]);
});

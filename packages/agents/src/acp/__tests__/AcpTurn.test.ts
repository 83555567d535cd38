import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Activity } from '@devs/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AcpMode } from '../AcpProgram.ts';
import { AcpTurn } from '../AcpTurn.ts';
import type { PromptEnd } from '../updates.ts';

function turnIn(mode: Partial<AcpMode> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'devs-turn-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.js'), 'one');
  const told: Activity[] = [];
  const place = { folder, confined: false, readOnly: false, ...mode };
  return { folder, told, turn: new AcpTurn(place, (activity) => told.push(activity)) };
}

const say = (text: string, messageId?: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  messageId,
});
const tool = (more: object) => ({ sessionUpdate: 'tool_call_update', toolCallId: 't', ...more });

describe('what an agent tells', () => {
  test('the text is that of the last message, since the last tool or name', () => {
    const { turn } = turnIn();
    for (const update of [say('I look'), say(' first.'), tool({ title: 'Read' }), say('Done'), say('.')])
      turn.hear(update);
    expect(turn.text).toBe('Done.');
    for (const update of [say('one', 'm1'), say('two', 'm2'), say(' three', 'm2')]) turn.hear(update);
    expect(turn.text).toBe('two three');
    turn.begin();
    expect(turn.text).toBe('');
  });

  test('a message without end is kept from its end, and says so', () => {
    const { turn } = turnIn();
    for (let part = 0; part < 12; part += 1) turn.hear(say(`${part}`.padEnd(1024 * 1024, '.')));
    turn.hear(say('the end'));
    expect(turn.text.length).toBeLessThan(5 * 1024 * 1024);
    expect(turn.text).toMatch(/the end$/);
    expect(turn.text.split('\n')).toHaveLength(2);
  });

  test('thoughts, plans and tools are told as they come; what has no known shape is not', () => {
    const { turn, told, folder } = turnIn();
    turn.hear({ sessionUpdate: 'agent_thought_chunk', content: { text: 'hm' } });
    turn.hear({ sessionUpdate: 'plan', entries: [{ content: 'read', status: 'in_progress' }] });
    turn.hear(tool({ kind: 'edit', locations: [{ path: join(folder, 'a.js') }] }));
    turn.hear(tool({ status: 'in_progress' }));
    turn.hear(tool({ title: 'Edit a.js', status: 'failed', locations: null }));
    turn.hear({ sessionUpdate: 'mode_changed' });
    turn.hear('nonsense');
    turn.hear({ sessionUpdate: 'agent_message_chunk', content: { text: 7 } });
    expect(told).toEqual([
      { kind: 'thought', text: 'hm' },
      { kind: 'plan', entries: [{ text: 'read', state: 'in_progress' }] },
      { kind: 'tool', id: 't', name: 'edit', state: 'started', detail: 'a.js' },
      { kind: 'tool', id: 't', name: 'Edit a.js', state: 'failed', detail: 'a.js' },
      { kind: 'text', text: '' },
    ]);
  });

  test('what a command printed is told once it has ended', () => {
    const { turn, told } = turnIn();
    const content = [{ type: 'content', content: { type: 'text', text: '3 passed' } }, null];
    turn.hear(tool({ kind: 'execute', status: 'in_progress', content }));
    turn.hear(tool({ status: 'completed', content }));
    turn.hear(tool({ kind: 'read', status: 'completed', content }));
    expect(told.filter(({ kind }) => kind === 'output')).toEqual([{ kind: 'output', text: '3 passed' }]);
  });

  test('a change is told once, by a path a person knows; a long one is left out', () => {
    const { turn, told, folder } = turnIn();
    const diff = (path: string, newText: string, oldText?: string) =>
      tool({ kind: 'edit', content: [{ type: 'diff', path, oldText, newText }] });
    turn.hear(diff(join(folder, 'a.js'), 'two\n', 'one\n'));
    turn.hear(diff(join(folder, 'a.js'), 'two\n', 'one\n'));
    turn.hear(diff('/etc/passwd', 'x\n'));
    turn.hear(diff('long.js', 'x'.repeat(300 * 1024)));
    turn.hear(tool({ content: [{ type: 'diff', path: 'a.js' }] }));
    const shown = told.filter((activity) => activity.kind === 'diff');
    expect(shown.map(({ path }) => path)).toEqual(['a.js', '/etc/passwd', 'long.js']);
    expect(shown[0]?.diff).toContain('-one\n+two');
    expect(shown[2]?.diff.length).toBeLessThan(100);
  });

  test('after ten thousand tools the first are forgotten', () => {
    const { turn, told } = turnIn();
    const named = (id: number, more = {}) => ({ ...tool(more), toolCallId: `t${id}` });
    for (let id = 0; id <= 10_000; id += 1) turn.hear(named(id, { title: `tool ${id}` }));
    turn.hear(named(0, { status: 'completed' }));
    turn.hear(named(10_000, { status: 'completed' }));
    expect(told.slice(-2)).toMatchObject([{ name: 'tool' }, { name: 'tool 10000' }]);
  });
});

describe('what a turn cost', () => {
  const end = (usage: object): PromptEnd => ({ stopReason: 'end_turn', ...usage }) as PromptEnd;
  const spending = (amount: unknown, currency = 'USD') => ({
    sessionUpdate: 'usage_update',
    cost: { amount, currency },
  });

  test('money is told over all prompts and counted for each; tokens are added up', () => {
    const { turn, told } = turnIn();
    const usage = { inputTokens: 10, outputTokens: 5, cachedReadTokens: 3, cachedWriteTokens: 2 };
    turn.hear(spending(0.25));
    expect(turn.usageOf(end({ usage }))).toEqual({
      tokensIn: 15,
      tokensOut: 5,
      tokensCached: 3,
      costUsd: 0.25,
    });
    turn.hear(spending(0.75));
    turn.hear(spending(9, 'EUR'));
    const quota = { token_count: { input_tokens: 1, output_tokens: 2 } };
    expect(turn.usageOf(end({ _meta: { quota } }))).toEqual({ tokensIn: 1, tokensOut: 2, costUsd: 0.5 });
    expect(told.at(-1)).toEqual({ kind: 'usage', usage: { tokensIn: 16, tokensOut: 7, costUsd: 0.75 } });
  });

  test('a session of no dollars has no known price', () => {
    const { turn, told } = turnIn();
    turn.hear({ sessionUpdate: 'usage_update', cost: { amount: 0, currency: 'USD' } });
    expect(turn.usageOf(null)).toEqual({});
    expect(told).toEqual([{ kind: 'usage', usage: {} }]);
    turn.hear({ sessionUpdate: 'usage_update', cost: { amount: 0.5, currency: 'USD' } });
    expect(turn.usageOf(null)).toEqual({ costUsd: 0.5 });
    expect(turn.usageOf(null)).toEqual({ costUsd: 0 });
  });

  test('an agent that says nothing costs nothing that is known, and an amount that is none is not 0', () => {
    const { turn } = turnIn();
    expect(turn.usageOf(null)).toEqual({});
    expect(turn.usageOf(end({}))).toEqual({});
    turn.hear(spending('much'));
    expect(turn.usageOf(null).costUsd).toBeNaN();
  });
});

describe('what an agent asks for', () => {
  const OPTIONS = [
    { optionId: 'always', kind: 'allow_always' },
    { optionId: 'yes', kind: 'allow_once' },
    { optionId: 'no', kind: 'reject_once' },
  ];
  const ask = (toolCall: object, options: readonly object[] = OPTIONS) => ({
    sessionId: 's',
    toolCall: { toolCallId: 't', ...toolCall },
    options,
  });
  const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });
  const cancelled = { outcome: { outcome: 'cancelled' } };

  test('is let once inside the folder, and refused outside of it', async () => {
    const { turn, told, folder } = turnIn();
    const edit = (path: string) => ask({ kind: 'edit', locations: [{ path }] });
    expect(await turn.permit(edit(join(folder, 'a.js')))).toEqual(selected('yes'));
    expect(await turn.permit(edit('../b.js'))).toEqual(selected('no'));
    expect(told).toMatchObject([
      { kind: 'permission', title: 'edit', granted: true },
      { kind: 'permission', granted: false, why: 'outside the folder of the run' },
    ]);
  });

  test('what it said of the tool before counts, and two kinds are none', async () => {
    const { turn, told } = turnIn();
    turn.hear(tool({ kind: 'delete', title: 'Delete', locations: [{ path: '/etc/passwd' }] }));
    expect(await turn.permit(ask({ kind: 'delete', rawInput: { file_path: 'a.js' } }))).toEqual(
      selected('no'),
    );
    expect(await turn.permit(ask({ kind: 'read', rawInput: { path: 'a.js' } }))).toEqual(selected('no'));
    expect(told.slice(1)).toMatchObject([
      { title: 'Delete', granted: false },
      { granted: false, why: 'its kind is missing' },
    ]);
  });

  test('without an answer that fits, it is cancelled', async () => {
    const { turn, told } = turnIn();
    const read = { kind: 'read', rawInput: { path: 'a.js' } };
    expect(await turn.permit(ask(read, [{ optionId: 'always', kind: 'allow_always' }]))).toEqual(cancelled);
    expect(told).toMatchObject([{ granted: false, why: 'it cannot be allowed once' }]);
    expect(await turn.permit(ask(read, OPTIONS.slice(0, 1)))).toEqual(cancelled);
    expect(await turn.permit({ sessionId: 's' })).toEqual(cancelled);
    expect(await turn.permit(ask({}, [{ optionId: 'never', kind: 'reject_always' }]))).toEqual(
      selected('never'),
    );
  });
});

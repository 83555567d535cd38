import { EventBus, type Run } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Output } from '../../terminal/Output.ts';
import { type LiveStatus, showStatusLine, statusLine } from '../progress.ts';

const ERASE_LINE = '\r\u001b[2K';

const STATUS: LiveStatus = {
  node: 'implement',
  taskId: 'csv:3',
  turn: 2,
  depth: { current: 4, limit: 25, warningAt: 20 },
  cost: { tokensIn: 12_000, tokensOut: 345, costUsd: 0.42, calls: 7, requests: 7, unpriced: 0 },
};

function terminal(options: { readonly isTTY?: boolean; readonly json?: boolean; readonly columns?: number }) {
  let text = '';
  const { isTTY = true, json = false, columns = 80 } = options;
  const sink = { isTTY, columns, write: (piece: string) => (text += piece) };
  return { out: new Output({ stdout: sink, stderr: sink, json, color: false }), text: () => text };
}

describe('statusLine', () => {
  it('says what runs, on which task, for how long and at what cost', () => {
    expect(statusLine(STATUS, 65_900)).toBe('T3  implement  turn 2  total 1:05  12345 tokens  $0.42');
  });

  it('says in words what the step does, and what happens in it', () => {
    const now = { step: 'red', words: 'red', ms: 42_000 };
    expect(statusLine({ ...STATUS, now }, 65_900)).toMatch(
      /^T3 {2}running the new test before the code {2}0:42 {2}turn 2 {2}total 1:05/,
    );
    const reading = { ...now, step: 'review', words: 'reading src/x.ts' };
    expect(statusLine({ ...STATUS, now: reading }, 0)).toMatch(
      /^T3 {2}reviewing the code: reading src\/x.ts {2}0:42/,
    );
    expect(statusLine({ ...STATUS, now: { ...now, step: 'mine', words: '' } }, 0)).toMatch(
      /^T3 {2}mine {2}0:42/,
    );
    expect(statusLine({ ...STATUS, node: 'approveTaskDag' }, 0)).toMatch(/^T3 {2}plan decision /);
  });

  it('keeps task, clock, tokens and cost where there is no room, and cuts what is printed', () => {
    const now = {
      step: 'green',
      words: 'PASS src/a/very/long/path/to/a.test.ts › and its long name',
      ms: 42_000,
    };
    const line = statusLine({ ...STATUS, now }, 65_900, 80);
    expect(line.length).toBeLessThan(80);
    expect(line).toMatch(
      /^T3 {2}running the tests.*… {2}0:42 {2}turn 2 {2}total 1:05 {2}12345 tokens {2}\$0\.42$/,
    );
    expect(statusLine({ ...STATUS, now }, 65_900, 20)).toMatch(/^T3 {2}running the… {2}0:42/);
  });

  it('names no object: the checks of an agent have the id of a tree in their name', () => {
    const now = { step: `implement: checks ${'a1'.repeat(20)}`, words: '', ms: 1_000 };
    expect(statusLine({ ...STATUS, now }, 0)).toMatch(/^T3 {2}writing the code: running the checks {2}0:01/);
  });

  it('says how near the depth guard is, once that is half of the way', () => {
    const depth = { current: 13, limit: 25, warningAt: 20 };
    expect(statusLine({ ...STATUS, depth }, 0)).toContain('  13 of 25 steps without progress  ');
    expect(statusLine({ ...STATUS, depth: { ...depth, current: 12 } }, 0)).not.toContain('progress');
    expect(statusLine({ ...STATUS, depth: null }, 0)).not.toContain('progress');
  });

  it('leaves out what is nothing yet', () => {
    const cost = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, requests: 0, unpriced: 0 };
    const research = { ...STATUS, node: 'research', taskId: null, turn: 0, cost };
    expect(statusLine(research, 900)).toBe('research  total 0:00');
  });
});

describe('the line of a drive', () => {
  it('names the task that is worked on, where the state file has the one before', async () => {
    const { out, text } = terminal({});
    const events = new EventBus();
    const { depth, cost } = STATUS;
    const run = {
      id: 'csv',
      state: async () => ({ activeTaskId: 'csv:1', implementationTurns: 1 }),
      recursionDepth: async () => depth,
      status: async () => ({ cost }),
    } as unknown as Run;
    const remove = showStatusLine(run, events, { out, stays: false });
    events.emit('NODE_STARTED', { node: 'implement', attempt: 1 }, { threadId: 'csv' });
    const scope = { threadId: 'csv', node: 'implement', taskId: 'csv:2', step: 'test', attempt: 1 };
    events.tell({ kind: 'doing', what: 'test' }, { ...scope, since: Date.now() }, 0);
    await expect.poll(text).toContain('tokens');
    remove();
    expect(text()).toMatch(/T2 {2}writing the test {2}0:00 {2}total 0:00 {2}12345 tokens/);
    expect(text()).not.toContain('T1');
  });
});

describe('a live line', () => {
  it('stays below what is printed, and goes without a trace', () => {
    const { out, text } = terminal({});
    out.live('working');
    out.print('story');
    out.live(null);
    expect(text()).toBe('working\r\u001b[2Kstory\nworking\r\u001b[2K');
  });

  it('is shorter than the terminal is wide', () => {
    const { out, text } = terminal({ columns: 8 });
    out.live('a long line');
    expect(text()).toBe('a long ');
  });

  it.each([{ isTTY: false }, { json: true }])('is not drawn with %o', (options) => {
    const { out, text } = terminal(options);
    out.live('working');
    out.live(null);
    expect(text()).toBe('');
  });
});

describe('the line of a drive that comes to a gate', () => {
  const run = {
    id: 'csv',
    state: () => Promise.reject(new Error('not read')),
    recursionDepth: () => Promise.reject(new Error('not read')),
    status: () => Promise.reject(new Error('not read')),
  };

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** What stands there a second after the gate was opened, and a second after the drive was over. */
  function atGate(stays: boolean): readonly string[] {
    const { out, text } = terminal({});
    const events = new EventBus();
    const shown = (): string => text().split(ERASE_LINE).at(-1) ?? '';
    const remove = showStatusLine(run, events, { out, stays });
    events.emit('NODE_STARTED', { node: 'design', attempt: 1 }, { threadId: 'csv' });
    vi.advanceTimersByTime(1_000);
    const before = shown();
    events.emit('RUN_SUSPENDED', { gates: 1 }, { threadId: 'csv' });
    vi.advanceTimersByTime(1_000);
    const at = shown();
    remove();
    vi.advanceTimersByTime(1_000);
    return [before, at, shown()];
  }

  it('goes on while the branch is delivered, and then no more', () => {
    expect(atGate(false)).toEqual(['design  total 0:01', 'delivering the branch  total 0:02', '']);
  });

  it('rests where it stays at the gate', () => {
    expect(atGate(true)).toEqual(['design  total 0:01', '', '']);
  });
});

import { EventBus } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Output } from '../../terminal/Output.ts';
import { type LiveStatus, showStatusLine, statusLine } from '../statusLine.ts';

const ERASE_LINE = '\r\u001b[2K';

const STATUS: LiveStatus = {
  node: 'implement',
  taskId: 'csv:3',
  turn: 2,
  depth: { current: 4, limit: 25, warningAt: 20 },
  cost: { tokensIn: 12_000, tokensOut: 345, costUsd: 0.42, calls: 7, unpriced: 0 },
};

function terminal(options: { readonly isTTY?: boolean; readonly json?: boolean; readonly columns?: number }) {
  let text = '';
  const { isTTY = true, json = false, columns = 80 } = options;
  const sink = { isTTY, columns, write: (piece: string) => (text += piece) };
  return { out: new Output({ stdout: sink, stderr: sink, json, color: false }), text: () => text };
}

describe('statusLine', () => {
  it('says what runs, on which task, for how long and at what cost', () => {
    expect(statusLine(STATUS, 65_900)).toBe('implement  T3  turn 2  depth 4/25  1:05  12345 tokens  $0.42');
  });

  it('leaves out what is nothing yet', () => {
    const cost = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, unpriced: 0 };
    const research = { ...STATUS, node: 'research', taskId: null, turn: 0, cost };
    expect(statusLine(research, 900)).toBe('research  depth 4/25  0:00');
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
    expect(atGate(false)).toEqual(['design  0:01', 'deliver  0:02', '']);
  });

  it('rests where it stays at the gate', () => {
    expect(atGate(true)).toEqual(['design  0:01', '', '']);
  });
});

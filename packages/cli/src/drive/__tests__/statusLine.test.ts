import { describe, expect, it } from 'vitest';
import { Output } from '../../terminal/Output.ts';
import { type LiveStatus, statusLine } from '../statusLine.ts';

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

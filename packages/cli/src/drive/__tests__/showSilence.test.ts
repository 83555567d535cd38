import { type Activity, EventBus } from '@devs/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Line, lineText } from '../../terminal/Line.ts';
import { showSilence } from '../showSilence.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watched() {
  const events = new EventBus();
  const printed: string[] = [];
  const stop = showSilence(events, {
    print: (...lines: readonly Line[]) => printed.push(...lines.map(lineText)),
  });
  const tell = (activity: Activity, step = 'prepare'): void =>
    events.tell(activity, { threadId: 'sum', node: 'research', taskId: null, step, attempt: 1, since: 0 }, 0);
  const doing = (what: string, step?: string): void => tell({ kind: 'doing', what }, step);
  const wait = (seconds: number): void => {
    vi.advanceTimersByTime(seconds * 1_000);
  };
  return { events, printed, stop, tell, doing, wait };
}

it('of setup it is said after half a minute, once, that a registry is what usually holds it up', () => {
  const { printed, doing, wait, stop } = watched();
  doing('setup');
  doing('npm ci');
  wait(29);
  expect(printed).toEqual([]);
  wait(120);
  expect(printed).toEqual([expect.stringContaining('npm ci printed nothing for 30 s; usually: a registry')]);
  stop();
  wait(60);
  expect(printed).toHaveLength(1);
});

it('of a check, what a check waits for; what it prints begins the silence anew', () => {
  const { printed, doing, tell, wait } = watched();
  doing('baseline', 'baseline');
  doing('npm test', 'baseline');
  wait(20);
  tell({ kind: 'output', text: '.' }, 'baseline');
  wait(20);
  expect(printed).toEqual([]);
  wait(11);
  expect(printed).toEqual([expect.stringContaining('npm test printed nothing for 30 s; usually: a service')]);
  tell({ kind: 'output', text: '.' }, 'baseline');
  wait(31);
  expect(printed).toHaveLength(2);
});

it('nothing is said of an agent, or when the command has ended', () => {
  const { events, printed, doing, tell, wait } = watched();
  doing('red', 'red');
  doing('npm test', 'red');
  doing('implement', 'implement');
  wait(60);
  doing('npm test', 'implement');
  tell({ kind: 'tool', id: '1', name: 'run_checks', state: 'finished' }, 'implement');
  wait(60);
  doing('npm test', 'green');
  events.emit('STEP_FINISHED', { node: 'implement', step: 'green', attempt: 1 });
  wait(60);
  expect(printed).toEqual([]);
});

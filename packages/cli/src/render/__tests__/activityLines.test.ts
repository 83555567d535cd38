import type { Activity, TranscriptEntry } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { activityLines, nowWords, usageWords } from '../activityLines.ts';

const entry = (text: string, state: 'pending' | 'in_progress' | 'completed') => ({ text, state });
const tool = (state: 'started' | 'finished' | 'failed', detail?: string): Activity => ({
  kind: 'tool',
  id: '1',
  name: 'grep',
  state,
  ...(detail !== undefined && { detail }),
});
const asked = (granted: boolean): Activity => ({
  kind: 'permission',
  title: 'rm -rf /',
  granted,
  why: 'by its kind',
});
const spent: Activity = { kind: 'usage', usage: { model: 'm', costUsd: 0.02 } };

test.each<readonly [Activity, string | null]>([
  [{ kind: 'thought', text: 'Well' }, 'thinking'],
  [{ kind: 'text', text: 'one\ntwo\n\n' }, 'two'],
  [{ kind: 'output', text: ' \n' }, null],
  [{ kind: 'output', text: `${'x'.repeat(60)}\n` }, `${'x'.repeat(47)}…`],
  [tool('started', 'src'), 'grep src'],
  [tool('started'), 'grep'],
  [tool('finished'), null],
  [{ kind: 'plan', entries: [entry('a', 'completed'), entry('b', 'in_progress')] }, 'b'],
  [{ kind: 'plan', entries: [entry('a', 'pending')] }, null],
  [{ kind: 'diff', path: 'a.js', diff: '+1' }, 'editing a.js'],
  [{ kind: 'doing', what: 'installing: npm ci' }, 'installing: npm ci'],
  [asked(true), null],
  [asked(false), 'refused: rm -rf /'],
  [spent, null],
])('of %j what happens now is %j', (activity, words) => {
  expect(nowWords(activity)).toBe(words);
});

test.each<readonly [TranscriptEntry['activity'], readonly string[]]>([
  [{ kind: 'text', text: 'one\ntwo\n' }, ['one', 'two']],
  [{ kind: 'output', text: 'ok' }, ['ok']],
  [{ kind: 'thought', text: 'Well\nwell' }, ['~ Well', '~ well']],
  [tool('failed', 'src'), ['✗ grep src']],
  [{ kind: 'diff', path: 'a.js', diff: '-1\n+2\n' }, ['± a.js', '  -1', '  +2']],
  [{ kind: 'plan', entries: [entry('a', 'completed'), entry('b', 'pending')] }, ['[x] a', '[ ] b']],
  [asked(true), ['allowed: rm -rf / (by its kind)']],
  [asked(false), ['refused: rm -rf / (by its kind)']],
  [{ kind: 'doing', what: 'installing' }, ['> installing']],
  [spent, ['spent: m, $0.02']],
  [{ kind: 'skipped', characters: 7 }, ['… 7 characters are not kept …']],
])('%j is told in lines with a margin', (activity, lines) => {
  expect(activityLines(activity)).toEqual(lines.map((line) => `         │ ${line}`));
});

describe('what a call has used', () => {
  test('is told as far as it is known', () => {
    expect(usageWords({})).toBe('it does not say');
    expect(usageWords({ tokensIn: 12 })).toBe('12 tokens in, 0 out');
    expect(usageWords({ model: 'm', tokensIn: 12, tokensOut: 3, costUsd: 0 })).toBe(
      'm, 12 tokens in, 3 out, $0.00',
    );
  });
});

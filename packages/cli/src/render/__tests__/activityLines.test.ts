import type { Activity, Run } from '@devs/core';
import { describe, expect, test } from 'vitest';
import { lineText } from '../../terminal/Line.ts';
import { activityLines, formatCurrent, formatUsage } from '../activityLines.ts';

type TranscriptEntry = Awaited<ReturnType<Run['transcript']>>[number];

const tool = { kind: 'tool', id: 't', name: 'Read', state: 'started' } as const;
const refused = { kind: 'permission', title: 'rm -rf /', granted: false, why: 'outside' } as const;

describe('what happens now, in a few words', () => {
  test.each<[Activity, string | null]>([
    [{ kind: 'thought', text: 'hm' }, 'thinking'],
    [{ kind: 'text', text: 'one\ntwo\n\n' }, 'two'],
    [{ kind: 'output', text: '\n \n' }, null],
    [tool, 'Read'],
    [{ ...tool, detail: 'a.js' }, 'Read a.js'],
    [{ ...tool, state: 'finished' }, null],
    [
      {
        kind: 'plan',
        entries: [
          { text: 'read', state: 'completed' },
          { text: 'write', state: 'in_progress' },
        ],
      },
      'write',
    ],
    [{ kind: 'plan', entries: [] }, null],
    [{ kind: 'diff', path: 'a.js', diff: '+x' }, 'editing a.js'],
    [{ kind: 'doing', what: 'npm ci' }, 'npm ci'],
    [refused, 'refused: rm -rf /'],
    [{ ...refused, granted: true }, null],
    [{ kind: 'usage', usage: {} }, null],
    [{ kind: 'text', text: 'x'.repeat(60) }, `${'x'.repeat(47)}…`],
  ])('%j', (activity, words) => {
    expect(formatCurrent(activity)).toBe(words);
  });
});

describe('what happened, as lines', () => {
  test.each<[TranscriptEntry['activity'], readonly string[]]>([
    [{ kind: 'output', text: '1 passed\n2 failed\n' }, ['1 passed', '2 failed']],
    [{ kind: 'thought', text: 'a\nb' }, ['~ a', '~ b']],
    [{ ...tool, state: 'failed', detail: 'a.js' }, ['✗ Read a.js']],
    [{ kind: 'diff', path: 'a.js', diff: '-one\n+two\n' }, ['± a.js', '  -one', '  +two']],
    [
      {
        kind: 'plan',
        entries: [
          { text: 'read', state: 'completed' },
          { text: 'write', state: 'pending' },
        ],
      },
      ['[x] read', '[ ] write'],
    ],
    [refused, ['refused: rm -rf / (outside)']],
    [{ ...refused, granted: true }, ['allowed: rm -rf / (outside)']],
    [{ kind: 'doing', what: 'npm ci' }, ['> npm ci']],
    [{ kind: 'usage', usage: { tokensIn: 10 } }, ['used: 10 tokens in']],
    [{ kind: 'skipped', characters: 7 }, ['… 7 characters were not stored …']],
  ])('%j', (activity, lines) => {
    expect(activityLines(activity).map(lineText)).toEqual(lines.map((line) => `         │ ${line}`));
  });

  test('what a diff adds and takes away has a style', () => {
    const lines = activityLines({ kind: 'diff', path: 'a.js', diff: ' one\n-two\n+three\n' });
    expect(lines.map((line) => (typeof line === 'string' ? null : line.style))).toEqual([
      null,
      null,
      'bad',
      'good',
    ]);
  });

  test('what an agent names is one line', () => {
    expect(activityLines({ ...tool, detail: 'a\nb' })).toHaveLength(1);
  });

  test('what was spent is said as far as it is known', () => {
    expect(formatUsage({})).toBe('usage unknown');
    expect(formatUsage({ model: 'openai:a', tokensIn: 1, tokensOut: 2, costUsd: 0.5 })).toBe(
      'openai:a, 1 tokens in, 2 out, $0.50',
    );
  });
});

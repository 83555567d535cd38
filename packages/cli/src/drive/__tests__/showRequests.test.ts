import { type Activity, EventBus } from '@devs/core';
import { expect, it } from 'vitest';
import { Output } from '../../terminal/Output.ts';
import { showRequests } from '../progress.ts';

type ActivityScope = Parameters<Parameters<EventBus['onActivity']>[0]>[1];

const SCOPE: ActivityScope = {
  threadId: 'sum',
  node: 'implement',
  taskId: 'sum:1',
  step: 'review',
  attempt: 1,
  since: 0,
};

function printed(told: readonly (readonly [Activity, Partial<ActivityScope>?])[]): readonly string[] {
  const lines: string[] = [];
  const sink = { isTTY: false, write: (text: string) => lines.push(...text.trim().split('\n')) };
  const events = new EventBus();
  showRequests(events, new Output({ stdout: sink, stderr: sink, json: false, color: false }));
  for (const [activity, more] of told) events.tell(activity, { ...SCOPE, ...more }, 0);
  return lines;
}

const tool = (name: string, id = name): readonly [Activity] => [{ kind: 'tool', id, name, state: 'started' }];
const spent = (tokensIn: number): Activity => ({
  kind: 'usage',
  usage: { tokensIn, tokensOut: 5, model: 'openai:a' },
});

it('each answered request is a line: the tools it used, and what the stage has spent', () => {
  const told = [
    tool('read_file'),
    tool('Edit', 'one'),
    tool('Edit a.js', 'one'),
    [{ kind: 'text', text: 'not for the story' }],
    [{ kind: 'tool', id: 'one', name: 'Edit a.js', state: 'finished' }],
    [spent(100)],
    [spent(200)],
    [spent(200)],
    [{ kind: 'usage', usage: { costUsd: 0.001 } }, { step: 'document' }],
    [{ kind: 'usage', usage: { tokensIn: 9, tokensCached: 7 } }, { step: 'document' }],
    [{ kind: 'usage', usage: { tokensOut: 3 } }, { step: 'document' }],
    ...['a', 'b', 'c', 'd', 'e', 'f', 'g\n\u001b[2J', 'h'].map((name) => tool(name)),
    [spent(300), {}],
  ] as const;
  expect(printed(told)).toEqual([
    'review 1: read_file, Edit a.js (openai:a, 100 tokens in, 5 out)',
    'review 2: text (openai:a, 200 tokens in, 5 out)',
    'document 1: text ($0.0010)',
    'document 2: text (9 tokens in, 7 of them cached)',
    'document 3: text (3 tokens out)',
    'review 1: a, b, c, d, e, f and 2 more (openai:a, 300 tokens in, 5 out)',
  ]);
});

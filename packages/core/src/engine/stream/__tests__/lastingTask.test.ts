import { describe, expect, test } from 'vitest';
import { lastingTask } from '../tasks.ts';

describe('the innermost task that has the same id after a restart', () => {
  test.each([
    ['agent:1', [], 'agent:1'],
    ['agent:1|tools:2', ['agent:1'], 'agent:1|tools:2'],
    ['agent:1|tools:2', [], 'agent:1'],
    ['agent:1|tools:2|deep:3', ['agent:1|tools:2'], 'agent:1'],
    ['agent:1|tools:2|deep:3', ['agent:1'], 'agent:1|tools:2'],
    ['agent:1|7|tools:2', ['agent:1|7'], 'agent:1|7|tools:2'],
    ['agent:1|tools:2|7', ['agent:1', 'agent:1|tools:2'], 'agent:1|tools:2'],
  ] as const)('of %s, where %j keep checkpoints, is %s', (taskNs, keeping, id) => {
    const keeps = (ns: string): boolean => (keeping as readonly string[]).includes(ns);
    expect(lastingTask(taskNs, keeps)).toEqual({ id, attempt: 1 });
  });
});

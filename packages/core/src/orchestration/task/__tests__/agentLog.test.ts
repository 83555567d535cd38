import { describe, expect, it } from 'vitest';
import { aState, aTask } from '../../__tests__/aState.ts';
import type { GraphState } from '../../types.ts';
import { agentLog, appendLog, lastFailure, lastObservation } from '../taskBrief.ts';

const [first, second] = [aTask(1), aTask(2)];

function after(turns: readonly (readonly [task: typeof first, passed: boolean, seen: string])[]): GraphState {
  let state = aState();
  for (const [task, passed, observation] of turns) {
    const log = agentLog(state, { task, thought: 'Turn', action: 'test', observation, passed }, 0);
    state = { ...state, agentLogs: appendLog(state, log) };
  }
  return state;
}

describe('what the next attempt is told of the last one', () => {
  it.each([
    ['nothing before the first attempt', [], null],
    ['why the last one failed', [[first, false, 'not ok']], 'not ok'],
    [
      'nothing of another task',
      [
        [first, false, 'not ok'],
        [second, false, 'worse'],
      ],
      'not ok',
    ],
    [
      'nothing of a success, which a person may have sent back',
      [
        [first, false, 'not ok'],
        [first, true, 'Documented.'],
      ],
      null,
    ],
    [
      'what verification found in a success',
      [
        [first, true, 'Documented.'],
        [first, false, 'lint'],
      ],
      'lint',
    ],
  ] as const)('is %s', (_what, turns, told) => {
    expect(lastFailure(after(turns), first.taskId)).toBe(told);
  });

  it('is not all that a person is shown, who sees what was seen last', () => {
    expect(lastObservation(after([[first, true, 'Documented.']]), first.taskId)).toBe('Documented.');
  });
});

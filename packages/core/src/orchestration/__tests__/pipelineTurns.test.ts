import { describe, expect, test } from 'vitest';
import { pipelineTurns, readTestCounts } from '../pipelineProfile.ts';
import { buildErrorRecord, withOutput } from '../robustness.ts';
import { agentLog, appendLog } from '../task/taskBrief.ts';
import type { GraphState } from '../types.ts';
import { AT, aState, aTask } from './aState.ts';

const task = aTask(1, { status: 'in_progress' });
const START_MS = Date.parse(AT);

/** The state after a turn of `implement`, or of `verify` where there is no tree. */
function after(state: GraphState, action: string, observation: string, tree: string | null): GraphState {
  const passed = action.includes(',');
  const now = START_MS + state.agentLogs.length * 1_000;
  const log = agentLog(state, { task, thought: '', action, observation, passed }, now);
  const seenAt = log.metadata.timestamp;
  return {
    ...state,
    agentLogs: appendLog(state, log),
    ...(tree !== null && { entropy: withOutput(state, task.taskId, { outputHash: tree, seenAt }) }),
  };
}

const begun = (): GraphState => aState({ tasks: [task], activeTaskId: task.taskId });

describe('pipelineTurns', () => {
  test('gives every log the tree it left, verify that of the implementation it checked', () => {
    let state = after(begun(), 'test, implement, review, document', 'done', 't1');
    state = after(state, 'verify', '2 failed | 3 passed', null);
    state = after(state, 'review', 'Name the variables.', 't2');
    state = after(state, 'implement', 'no such function', 't1');
    expect(pipelineTurns(state).map(({ tool: _, ...turn }) => turn)).toEqual([
      { action: 'test, implement, review, document', output: 'done', tree: 't1' },
      { action: 'verify', error: '2 failed | 3 passed', tests: { passed: 3, failed: 2 }, tree: 't1' },
      { action: 'review', error: 'Name the variables.', tree: 't2' },
      { action: 'implement', error: 'no such function', tree: 't1' },
    ]);
  });

  test('begins with the episode: cleared records leave no turn', () => {
    const before = after(after(begun(), 'implement', 'red', 't1'), 'verify', 'red', null);
    expect(pipelineTurns({ ...before, entropy: [] })).toEqual([]);
    const anew = after({ ...before, entropy: [] }, 'implement', 'still red', 't1');
    expect(pipelineTurns(anew)).toMatchObject([{ error: 'still red', tree: 't1' }]);
  });

  test('puts thrown errors where they happened', () => {
    const state = after(begun(), 'implement', 'red', 't1');
    const thrown = {
      ...buildErrorRecord(new Error('boom'), 'implement', task.taskId, 1),
      capturedAt: '9999',
    };
    expect(pipelineTurns({ ...state, errorHistory: [thrown] })).toMatchObject([
      { action: 'implement', error: 'red' },
      { action: 'implement', error: 'boom' },
    ]);
  });

  test('is empty without a task, and once the task has ended', () => {
    const state = after(begun(), 'implement', 'red', 't1');
    expect(pipelineTurns({ ...state, activeTaskId: null })).toEqual([]);
    expect(pipelineTurns({ ...state, tasks: [aTask(1, { status: 'completed' })] })).toEqual([]);
  });
});

describe('withOutput', () => {
  test('keeps the order in which trees were left, each with how often it was seen', () => {
    let state = begun();
    for (const outputHash of ['a', 'b', 'a', 'a']) {
      state = { ...state, entropy: withOutput(state, task.taskId, { outputHash, seenAt: AT }) };
    }
    expect(state.entropy.map(({ outputHash, loopCount }) => [outputHash, loopCount])).toEqual([
      ['a', 1],
      ['b', 1],
      ['a', 2],
      ['a', 3],
    ]);
  });
});

describe('readTestCounts', () => {
  test.each([
    ['vitest', ' Test Files  1 failed | 2 passed (3)\n      Tests  4 failed | 11 passed (15)', 11, 4],
    ['jest', 'Tests:       1 failed, 11 passed, 12 total', 11, 1],
    ['mocha', '  11 passing (31ms)\n  2 failing', 11, 2],
    ['pytest', '==== 3 failed, 20 passed in 0.12s ====', 20, 3],
    ['cargo', 'test result: FAILED. 8 passed; 1 failed; 0 ignored', 8, 1],
    ['node:test', '# tests 12\n# pass 11\n# fail 1', 11, 1],
    ['all green', 'Tests  15 passed (15)', 15, 0],
  ])('reads the summary of %s', (_runner, output, passed, failed) => {
    expect(readTestCounts(output)).toEqual({ passed, failed });
  });

  test('says nothing where there is no summary', () => {
    expect(readTestCounts('not ok')).toBe(null);
  });
});

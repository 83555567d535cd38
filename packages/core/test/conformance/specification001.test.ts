import { END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildErrorRecord,
  CONSECUTIVE_ERROR_PIVOT_THRESHOLD,
  checkTurnBudget,
  classifyError,
  countConsecutiveErrors,
  createInitialState,
  errorNode,
  type GraphState,
  implementNode,
  incrementTurnBudget,
  MAX_IMPLEMENTATION_TURNS,
  maskSensitiveData,
  OrchestratorAnnotation,
  pivotAgentNode,
  routeAfterError,
  routeAfterVerify,
  type TaskRecord,
  verifyNode,
} from '../../src/index.ts';
import { maskPrecise } from '../../src/masking/maskSensitiveData.ts';

// What specification 001 says of robustness.ts, put together from the exported names alone, as by somebody who has read
// nothing else.

const AT = '2026-01-02T03:04:05.000Z';
const CONFIG = { projectId: 'p', name: 'P', description: '', createdAt: AT, updatedAt: AT } as const;
const TASK: TaskRecord = {
  taskId: 't1',
  epicId: 'e1',
  name: 'T1',
  description: '',
  status: 'in_progress',
  agentRole: 'developer',
  dependsOn: [],
};

function aState(parts: Partial<GraphState> = {}): GraphState {
  const initial = createInitialState({ ...CONFIG, status: 'implementing' });
  return { ...initial, tasks: [TASK], activeTaskId: 't1', ...parts };
}

describe('three equal errors', () => {
  const failedWith = (history: GraphState['errorHistory'], message: string): GraphState['errorHistory'] => {
    const count = countConsecutiveErrors(history, message, 't1');
    return [...history, buildErrorRecord(new Error(message), 'implement', 't1', count)];
  };

  test('lead to a pivot, and two do not, by the signatures of the three functions', () => {
    const two = failedWith(failedWith([], 'boom'), 'boom');
    const three = failedWith(two, 'boom');
    expect(three.map(({ consecutiveCount }) => consecutiveCount)).toEqual([1, 2, 3]);
    expect(routeAfterError(aState({ errorHistory: two }))).toBe('implement');
    expect(routeAfterError(aState({ errorHistory: three }))).toBe('pivot_agent');
    expect(three).toHaveLength(CONSECUTIVE_ERROR_PIVOT_THRESHOLD);
  });

  test('begin anew after another one', () => {
    const history = ['boom', 'boom', 'bang', 'boom'].reduce(failedWith, []);
    expect(history.map(({ consecutiveCount }) => consecutiveCount)).toEqual([1, 2, 1, 1]);
  });
});

/** A graph wired as the specification says: whoever fails names itself in `pendingRecoveryNode`. */
function aGraph(failures: number) {
  let left = failures;
  const seen: string[] = [];
  const graph = new StateGraph(OrchestratorAnnotation)
    .addNode('implement', (state: GraphState): Partial<GraphState> => {
      seen.push('implement');
      if (left === 0) return implementNode(state);
      left -= 1;
      return { pendingRecoveryNode: 'implement' };
    })
    .addNode('verify', (state: GraphState) => {
      seen.push('verify');
      return verifyNode(state);
    })
    .addNode('error', (state: GraphState) => {
      seen.push('error');
      return errorNode(state);
    })
    .addNode('pivot_agent', (state: GraphState) => {
      seen.push('pivot_agent');
      return pivotAgentNode(state);
    })
    .addEdge(START, 'implement')
    .addConditionalEdges('implement', ({ pendingRecoveryNode: node }: GraphState) =>
      node === null || node === 'pivot_agent' ? 'verify' : 'error',
    )
    .addConditionalEdges('verify', routeAfterVerify, ['pivot_agent', 'implement', END])
    .addConditionalEdges('error', routeAfterError)
    .addEdge('pivot_agent', END)
    .compile({ checkpointer: new MemorySaver() });
  return { graph, seen };
}

const THREAD = { configurable: { thread_id: 'p' } };

describe('a graph wired from the exported nodes', () => {
  test('goes through error once for one error', async () => {
    const { graph, seen } = aGraph(1);
    const { errorHistory, pendingRecoveryNode, tasks } = await graph.invoke(aState(), THREAD);
    expect(seen).toEqual(['implement', 'error', 'implement', 'verify']);
    expect(errorHistory.map(({ sourceNode, consecutiveCount }) => [sourceNode, consecutiveCount])).toEqual([
      ['implement', 1],
    ]);
    expect([pendingRecoveryNode, tasks[0]?.status]).toEqual([null, 'completed']);
  });

  test('pivots after the third equal error, and ends', async () => {
    const { graph, seen } = aGraph(99);
    const { status, errorHistory } = await graph.invoke(aState(), THREAD);
    expect(seen.filter((node) => node !== 'implement')).toEqual(['error', 'error', 'error', 'pivot_agent']);
    expect([status, errorHistory.length]).toEqual(['strategy_pivot', 3]);
  });

  test('works again on the thread that pivoted for its turn budget', async () => {
    const { graph, seen } = aGraph(0);
    const spent = aState({ implementationTurns: MAX_IMPLEMENTATION_TURNS });
    const pivoted = await graph.invoke(spent, THREAD);
    expect(seen.splice(0)).toEqual(['implement', 'verify', 'pivot_agent']);
    expect(pivoted).toMatchObject({
      status: 'strategy_pivot',
      implementationTurns: 0,
      pendingRecoveryNode: null,
    });

    const { tasks } = await graph.invoke({}, THREAD);
    expect(seen).toEqual(['implement', 'verify']);
    expect(tasks[0]?.status).toBe('completed');
  });
});

describe('errorNode', () => {
  test('clears the signal that it took its source from', () => {
    const update = errorNode(aState({ pendingRecoveryNode: 'verify' }));
    expect(update.errorHistory?.[0]?.sourceNode).toBe('verify');
    expect(update.pendingRecoveryNode).toBeNull();
  });

  test('leaves a pending pivot when the error came with its own source', () => {
    const capturedError = { node: 'pivot_agent', name: 'Error', message: 'No answer.', stackTrace: '' };
    const state = aState({ pendingRecoveryNode: 'pivot_agent', capturedError });
    expect({ ...state, ...errorNode(state) }).toMatchObject({
      pendingRecoveryNode: 'pivot_agent',
      capturedError: null,
    });
  });
});

test.each([
  ['errorNode', errorNode, 'error'],
  ['pivotAgentNode', pivotAgentNode, 'strategy_pivot'],
  ['checkTurnBudget', checkTurnBudget, 'strategy_pivot'],
] as const)('%s moves both statuses', (_name, of, status) => {
  const state = aState({ implementationTurns: MAX_IMPLEMENTATION_TURNS });
  const next = { ...state, ...of(state) };
  expect([next.status, next.projectConfig]).toEqual([status, { ...CONFIG, status }]);
  expect(state.projectConfig.status).toBe('implementing');
});

test('the turn that would be the eleventh asks for a pivot', () => {
  let state = aState();
  const turns = Array.from({ length: 10 }, () => {
    const isSpent = checkTurnBudget(state) !== null;
    state = { ...state, ...incrementTurnBudget(state) };
    return isSpent;
  });
  expect(turns).not.toContain(true);
  expect(checkTurnBudget(state)).toMatchObject({ pendingRecoveryNode: 'pivot_agent' });
});

test.each([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND', 'EPIPE'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'SQLITE_BUSY'],
])('%s is transient as a code, in a message, and as a text', (code) => {
  const told = `connect ${code} 10.0.0.1:443`;
  const errors = [Object.assign(new Error('x'), { code }), new Error(told), told];
  expect(errors.map(classifyError)).toEqual(['transient', 'transient', 'transient']);
});

test.each(['500 Internal Server Error', 'Bad Gateway', 'database is locked'])(
  '%s is transient',
  (message) => {
    expect(classifyError(new Error(message))).toBe('transient');
  },
);

test('every record has an id of its own', () => {
  const error = new Error('boom');
  const ids = Array.from({ length: 50 }, () => buildErrorRecord(error, 'verify', 't1', 1).errorId);
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) expect(id).toMatch(/^err-\d+-[0-9a-z]+$/);
});

describe('the five masking patterns', () => {
  const VALUES = [
    ...[
      'abc',
      '12345',
      'hunter2',
      'p@ssw0rd',
      'a/b+c=',
      'secret.value',
      'Summer(2024)',
      'live(1234567890abcdef)',
    ],
    ...['my_secret', 'test_key', 'token', 'value', 'key', 'very_secret', '[REDACTED]hunter2', '"two words"'],
  ];

  test.each([
    ['password', '[SECRET=REDACTED]'],
    ['secret', '[SECRET=REDACTED]'],
    ['Password', '[SECRET=REDACTED]'],
    ['api_key', '[API_KEY=REDACTED]'],
    ['API_KEY', '[API_KEY=REDACTED]'],
  ])('%s=<value> is masked whole, whatever is assigned', (name, mark) => {
    for (const value of VALUES) expect(maskSensitiveData(`${name}=${value}`)).toBe(mark);
  });

  test('maskSensitiveData takes a text alone, so a list can be mapped by it', () => {
    expect(['password=a', 'fine'].map(maskSensitiveData)).toEqual(['[SECRET=REDACTED]', 'fine']);
  });

  test('password=secret is masked, and secret=password', () => {
    expect(maskSensitiveData('password=secret secret=password')).toBe('[SECRET=REDACTED] [SECRET=REDACTED]');
  });

  test.each(['abc', 'letmein', 'abc.def-ghi', 'eyJ0.eyJ1.c2ln'])('Bearer %s is masked', (token) => {
    expect(maskSensitiveData(`Bearer ${token}`)).toBe('Bearer [REDACTED]');
    expect(maskSensitiveData(`sent "Bearer ${token}"`)).toBe('sent "Bearer [REDACTED]"');
  });

  const users = fc.stringMatching(/^[a-z][a-z0-9.@_-]{0,20}$/);
  const passwords = fc.stringMatching(
    /^[A-Za-z0-9@#!*?=&:;,.+~%_-]{0,20}[0-9@][A-Za-z0-9@#!?=&:;,.+~%_-]{0,20}$/,
  );

  test('credentials in a URL are masked whole by both masks, whatever they are', () => {
    fc.assert(
      fc.property(users, passwords, (user, password) => {
        const masked = 'see https://[CREDENTIALS_REDACTED]@host/path';
        const text = `see https://${user}:${password}@host/path`;
        expect(maskPrecise(text).value).toBe(masked);
        expect(maskSensitiveData(text)).toBe(masked);
      }),
    );
  });

  test.each(['user:$PASS', 'user:$'.concat('{PASS}'), 'user:{{token}}', 'user:****', 'user', 'user:'])(
    '%s is no credential in a URL',
    (userInfo) => {
      const text = `see https://${userInfo}@host/path`;
      expect([maskSensitiveData(text), maskPrecise(text).value]).toEqual([text, text]);
    },
  );

  test.each(['password', 'secret', 'changeme'])('so is the word %s in a URL', (word) => {
    expect(maskSensitiveData(`https://user:${word}@host`)).toBe('https://[CREDENTIALS_REDACTED]@host');
  });
});

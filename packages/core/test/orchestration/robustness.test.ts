import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as robustness from '../../src/orchestration/robustness.ts';
import {
  buildErrorRecord,
  CONSECUTIVE_ERROR_PIVOT_THRESHOLD,
  checkTurnBudget,
  classifyError,
  countConsecutiveErrors,
  detectEntropy,
  ENTROPY_LOOP_THRESHOLD,
  errorNode,
  errorRecordAt,
  findStaleOrDirtyStates,
  incrementTurnBudget,
  MAX_IMPLEMENTATION_TURNS,
  maskSensitiveData,
  pivotAgentNode,
  resetTurnBudget,
  routeAfterError,
  routeRecovery,
} from '../../src/orchestration/robustness.ts';
import {
  createInitialState,
  type EntropyRecord,
  type ErrorRecord,
  type GraphState,
  type TaskRecord,
  type TaskStatus,
} from '../../src/orchestration/types.ts';

const AT = '2026-01-02T03:04:05.000Z';

function stateWith(parts: Partial<GraphState> = {}): GraphState {
  const config = { projectId: 'p', name: 'P', description: '', createdAt: AT, updatedAt: AT } as const;
  return { ...createInitialState({ ...config, status: 'implementing' }), ...parts };
}

function task(taskId: string, status: TaskStatus = 'pending'): TaskRecord {
  const fixed = { epicId: 'e1', description: '', agentRole: 'developer', dependsOn: [] } as const;
  return { taskId, name: `Task ${taskId}`, status, ...fixed };
}

function errorOf(message: string, parts: Partial<ErrorRecord> = {}): ErrorRecord {
  return { ...buildErrorRecord(new Error(message), 'implement', 't1', 1), ...parts };
}

function seen(taskId: string, loopCount: number): EntropyRecord {
  return { outputHash: 'a'.repeat(64), seenAt: AT, taskId, loopCount };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

describe('constants', () => {
  test('a task has 10 turns', () => expect(MAX_IMPLEMENTATION_TURNS).toBe(10));
  test('3 equal errors ask for a pivot', () => expect(CONSECUTIVE_ERROR_PIVOT_THRESHOLD).toBe(3));
  test('3 equal outputs ask for a pivot', () => expect(ENTROPY_LOOP_THRESHOLD).toBe(3));
  test('the door exports every name of its specification', () => {
    for (const name of [
      'captureError',
      'errorNode',
      'pivotAgentNode',
      'routeAfterError',
      'transientRetryPolicy',
    ]) {
      expect(robustness).toHaveProperty(name);
    }
  });
});

describe('maskSensitiveData', () => {
  test.each([
    ['a bearer token', 'Authorization: Bearer abc.def-123', 'Authorization: Bearer [REDACTED]'],
    ['a bearer token in a sentence', 'sent Bearer s3cr3t, got 401', 'sent Bearer [REDACTED], got 401'],
    ['an API key', 'api_key=12345', '[API_KEY=REDACTED]'],
    ['an API key written with a dash', 'api-key=12345', '[API_KEY=REDACTED]'],
    ['an API key written as one word', 'APIKEY=12345', '[API_KEY=REDACTED]'],
    ['an AWS key id', 'id AKIAIOSFODNN7EXAMPLE used', 'id [AWS_KEY=REDACTED] used'],
    ['a password', 'password=hunter2', '[SECRET=REDACTED]'],
    ['a secret', 'secret=abc', '[SECRET=REDACTED]'],
    ['a quoted secret', 'secret="a b c" next', '[SECRET=REDACTED] next'],
    ['credentials in a URL', 'https://bob:pw@host/p', 'https://[CREDENTIALS_REDACTED]@host/p'],
    ['credentials in another scheme', 'postgres://bob:pw@db', 'postgres://[CREDENTIALS_REDACTED]@db'],
  ])('masks %s', (_what, text, expected) => {
    expect(maskSensitiveData(text)).toBe(expected);
  });

  test('leaves code that makes a password', () =>
    expect(maskSensitiveData('password=hash(input)')).toBe('password=hash(input)'));

  test('masks several families in one text', () => {
    const text = 'Bearer abc123 api_key=k AKIAIOSFODNN7EXAMPLE password=p https://u:p@h';
    expect(maskSensitiveData(text)).toBe(
      'Bearer [REDACTED] [API_KEY=REDACTED] [AWS_KEY=REDACTED] [SECRET=REDACTED] https://[CREDENTIALS_REDACTED]@h',
    );
  });

  test('masks every occurrence', () => {
    expect(maskSensitiveData('password=a password=b')).toBe('[SECRET=REDACTED] [SECRET=REDACTED]');
  });

  test('masking a masked text changes nothing', () => {
    const once = maskSensitiveData('Bearer abc123, api_key=k, password=p, https://u:p@h');
    expect(maskSensitiveData(once)).toBe(once);
  });

  test.each(['', 'nothing here', 'the bearer of news', 'a secret garden', 'https://host/path'])(
    'leaves %j as it is',
    (text) => expect(maskSensitiveData(text)).toBe(text),
  );
});

describe('classifyError', () => {
  test.each([
    ['a socket error code', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['a timeout', new Error('request timed out')],
    ['a TimeoutError', Object.assign(new Error('x'), { name: 'TimeoutError' })],
    ['a rate limit', new Error('Rate limit exceeded')],
    ['too many requests', new Error('429 Too Many Requests')],
    ['status 429', Object.assign(new Error('x'), { status: 429 })],
    ['statusCode 503', Object.assign(new Error('x'), { statusCode: 503 })],
    ['status 529 of an overloaded model', Object.assign(new Error('overloaded_error'), { status: 529 })],
    ['a failed fetch, though it is a TypeError', new TypeError('fetch failed')],
    ['a code in the cause', new Error('x', { cause: Object.assign(new Error('y'), { code: 'EAI_AGAIN' }) })],
    [
      'a code three causes deep',
      new Error('x', {
        cause: new Error('y', { cause: Object.assign(new Error('z'), { code: 'ECONNRESET' }) }),
      }),
    ],
    ['a thrown text', 'ETIMEDOUT'],
    ['an object that is no Error', { message: 'socket hang up' }],
  ])('%s is transient', (_what, error) => expect(classifyError(error)).toBe('transient'));

  test.each([
    ['a TypeError', new TypeError('x is not a function')],
    ['a ReferenceError', new ReferenceError('x is not defined')],
    ['a SyntaxError', new SyntaxError('Unexpected token')],
    ['a RangeError', new RangeError('Maximum call stack size exceeded')],
    ['an assertion', Object.assign(new Error('1 != 2'), { name: 'AssertionError' })],
    ['invalid input', new Error('Invalid task id')],
  ])('%s is logic', (_what, error) => expect(classifyError(error)).toBe('logic'));

  test.each([
    ['an error without signs', new Error('something happened')],
    ['status 404', Object.assign(new Error('no such page'), { status: 404 })],
    ['null', null],
    ['undefined', undefined],
    ['a number', 42],
    ['an empty object', {}],
  ])('%s is unknown', (_what, error) => expect(classifyError(error)).toBe('unknown'));

  test('anything thrown gets one of the three kinds', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) =>
        ['transient', 'logic', 'unknown'].includes(classifyError(thrown)),
      ),
    );
  });
});

describe('buildErrorRecord', () => {
  test('has the fields of its format', () => {
    const record = buildErrorRecord(new TypeError('boom'), 'verify', 't1', 2);
    expect(record).toMatchObject({
      sourceNode: 'verify',
      message: 'boom',
      kind: 'logic',
      consecutiveCount: 2,
    });
    expect(record.taskId).toBe('t1');
    expect(record.stackTrace).toContain('TypeError: boom');
  });

  test('the id is err-{timestamp}-{random}', () => {
    const record = buildErrorRecord(new Error('boom'), 'verify', null, 1);
    expect(record.errorId).toMatch(/^err-\d+-[0-9a-z]+$/);
    expect(record.errorId).toContain(String(Date.parse(record.capturedAt)));
  });

  test('capturedAt is ISO 8601 in UTC', () => {
    const { capturedAt } = buildErrorRecord(new Error('boom'), 'verify', null, 1);
    expect(new Date(capturedAt).toISOString()).toBe(capturedAt);
  });

  test('the same occurrence at the same time has the same id, another one another id', () => {
    const error = new Error('boom');
    const place = { error, sourceNode: 'verify', taskId: 't1', consecutiveCount: 1, capturedAtMs: 1_000 };
    const id = errorRecordAt(place).errorId;
    expect(errorRecordAt(place).errorId).toBe(id);
    expect(errorRecordAt({ ...place, consecutiveCount: 2 }).errorId).not.toBe(id);
    expect(errorRecordAt({ ...place, sourceNode: 'design' }).errorId).not.toBe(id);
  });

  test('masks message and stack', () => {
    const record = buildErrorRecord(new Error('login with password=hunter2 failed'), 'verify', 't1', 1);
    expect(record.message).toBe('login with [SECRET=REDACTED] failed');
    expect(record.stackTrace).not.toContain('hunter2');
  });

  test('clips a long message after masking it', () => {
    const record = buildErrorRecord(new Error(`${'x'.repeat(1_995)} password=hunter2`), 'verify', 't1', 1);
    expect(record.message.length).toBeLessThan(2_100);
    expect(record.message).not.toContain('hunter');
  });

  test.each([
    ['a text', 'plain', 'plain'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['an object with a message', { message: 'inner' }, 'inner'],
    ['an object without one', { a: 1 }, '[object Object]'],
  ])('takes %s for an error', (_what, thrown, message) => {
    expect(buildErrorRecord(thrown, 'verify', null, 1)).toMatchObject({ message, stackTrace: '' });
  });

  test('is plain JSON', () => {
    const record = buildErrorRecord(new Error('boom'), 'verify', null, 1);
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });
});

describe('countConsecutiveErrors', () => {
  const a = errorOf('a');
  const b = errorOf('b');
  const other = errorOf('a', { taskId: 't2' });

  test.each<[string, ErrorRecord[], number]>([
    ['the new one in an empty history', [], 1],
    ['one before it', [a], 2],
    ['three before it', [a, a, a], 4],
    ['only those after another message', [a, a, b, a], 2],
    ['the new one when the last is another message', [a, a, b], 1],
    ['only those after another task', [a, other, a], 2],
    ['the new one when the last is of another task', [a, other], 1],
  ])('counts %s', (_what, history, count) => {
    expect(countConsecutiveErrors(history, 'a', 't1')).toBe(count);
  });

  test('compares masked text, so a changing secret does not hide a loop', () => {
    const history = [errorOf('denied: password=one'), errorOf('denied: password=two')];
    expect(countConsecutiveErrors(history, 'denied: password=three', 't1')).toBe(3);
  });

  test('errors without a task are counted among themselves', () => {
    expect(countConsecutiveErrors([errorOf('a', { taskId: null }), a], 'a', null)).toBe(1);
    expect(countConsecutiveErrors([a, errorOf('a', { taskId: null })], 'a', null)).toBe(2);
  });
});

describe('errorNode', () => {
  const captured = { node: 'verify', message: 'boom', stackTrace: 'Error: boom\n  at x', name: 'TypeError' };

  test('sets the status to error', () => expect(errorNode(stateWith()).status).toBe('error'));

  test('appends a record and keeps the earlier ones', () => {
    const earlier = [errorOf('one'), errorOf('two')];
    const { errorHistory } = errorNode(stateWith({ errorHistory: earlier }));
    expect(errorHistory).toHaveLength(3);
    expect(errorHistory?.slice(0, 2)).toEqual(earlier);
  });

  test('takes the captured error and clears it', () => {
    const update = errorNode(stateWith({ capturedError: captured, pendingRecoveryNode: 'design' }));
    expect(update.capturedError).toBeNull();
    expect(update.errorHistory?.[0]).toMatchObject({
      sourceNode: 'verify',
      message: 'boom',
      stackTrace: 'Error: boom\n  at x',
      kind: 'logic',
    });
  });

  test('names the node that was to recover when nothing was captured', () => {
    const { errorHistory } = errorNode(stateWith({ pendingRecoveryNode: 'design' }));
    expect(errorHistory?.[0]).toMatchObject({ sourceNode: 'design', stackTrace: '' });
    expect(errorHistory?.[0]?.message).toContain('design');
  });

  test('calls the source unknown when nothing says otherwise', () => {
    expect(errorNode(stateWith()).errorHistory?.[0]?.sourceNode).toBe('unknown');
  });

  test('marks the active task failed and leaves the others', () => {
    const tasks = [task('t1', 'in_progress'), task('t2', 'completed')];
    const update = errorNode(stateWith({ tasks, activeTaskId: 't1' }));
    expect(update.tasks?.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(update.errorHistory?.[0]?.taskId).toBe('t1');
  });

  test('without an active task no task changes', () => {
    const update = errorNode(stateWith({ tasks: [task('t1', 'in_progress')] }));
    expect(update.tasks).toEqual([task('t1', 'in_progress')]);
    expect(update.errorHistory?.[0]?.taskId).toBeNull();
  });

  test('counts equal errors in a row', () => {
    let state = stateWith({ activeTaskId: 't1', tasks: [task('t1')] });
    const counts = [1, 2, 3].map(() => {
      state = { ...state, ...errorNode({ ...state, capturedError: captured }) };
      return state.errorHistory.at(-1)?.consecutiveCount;
    });
    expect(counts).toEqual([1, 2, 3]);
    expect(routeAfterError(state)).toBe('pivot_agent');
  });

  test('another error starts the count again', () => {
    let state = stateWith();
    for (const message of ['boom', 'boom', 'bang']) {
      state = { ...state, ...errorNode({ ...state, capturedError: { ...captured, message } }) };
    }
    expect(state.errorHistory.map(({ consecutiveCount }) => consecutiveCount)).toEqual([1, 2, 1]);
  });

  test('keeps the newest twenty records', () => {
    const earlier = Array.from({ length: 20 }, (_, index) => errorOf(`e${index}`));
    const { errorHistory } = errorNode(stateWith({ errorHistory: earlier, capturedError: captured }));
    expect(errorHistory).toHaveLength(20);
    expect(errorHistory?.[0]?.message).toBe('e1');
    expect(errorHistory?.at(-1)?.message).toBe('boom');
  });

  test('never changes its input', () => {
    const state = deepFreeze(
      stateWith({
        tasks: [task('t1')],
        activeTaskId: 't1',
        errorHistory: [errorOf('x')],
        capturedError: captured,
      }),
    );
    const before = structuredClone(state);
    errorNode(state);
    expect(state).toEqual(before);
  });

  test('masks what it records', () => {
    const capturedError = { ...captured, message: 'api_key=12345', stackTrace: 'at password=hunter2' };
    const record = errorNode(stateWith({ capturedError })).errorHistory?.[0];
    expect(record).toMatchObject({ message: '[API_KEY=REDACTED]', stackTrace: 'at [SECRET=REDACTED]' });
  });

  test('run again from the same checkpoint it gives the same record', () => {
    const state = stateWith({ capturedError: captured });
    const config = { executionInfo: { checkpointId: '1f0c8f4e-6d2a-6c40-8000-0123456789ab' } } as never;
    const first = errorNode(state, config);
    expect(errorNode(state, config)).toEqual(first);
    expect(first.errorHistory?.[0]?.capturedAt).toMatch(/^2025-/);
  });
});

describe('pivotAgentNode', () => {
  test('says that the strategy has to change', () => {
    expect(pivotAgentNode(stateWith()).status).toBe('strategy_pivot');
  });

  test('resets the turn budget', () => {
    expect(pivotAgentNode(stateWith({ implementationTurns: 10 })).implementationTurns).toBe(0);
  });

  test('returns nothing else and never changes its input', () => {
    const update = pivotAgentNode(deepFreeze(stateWith()));
    expect(Object.keys(update).sort()).toEqual([
      'implementationTurns',
      'pendingRecoveryNode',
      'projectConfig',
      'status',
    ]);
  });
});

describe('turn budget', () => {
  test.each([0, 1, 9])('%d turns are fine', (implementationTurns) => {
    expect(checkTurnBudget(stateWith({ implementationTurns }))).toBeNull();
  });

  test.each([10, 11, 100])('%d turns ask for a pivot', (implementationTurns) => {
    expect(checkTurnBudget(stateWith({ implementationTurns }))).toEqual({
      status: 'strategy_pivot',
      projectConfig: { ...stateWith().projectConfig, status: 'strategy_pivot' },
      pendingRecoveryNode: 'pivot_agent',
    });
  });

  test('incrementing adds one', () => {
    expect(incrementTurnBudget(stateWith({ implementationTurns: 4 }))).toEqual({ implementationTurns: 5 });
  });

  test('resetting sets zero', () => expect(resetTurnBudget()).toEqual({ implementationTurns: 0 }));

  test('ten increments spend the budget, nine do not', () => {
    let state = stateWith();
    for (let turn = 0; turn < 9; turn += 1) state = { ...state, ...incrementTurnBudget(state) };
    expect(checkTurnBudget(state)).toBeNull();
    expect(checkTurnBudget({ ...state, ...incrementTurnBudget(state) })).not.toBeNull();
  });
});

describe('routeAfterError', () => {
  const after = (parts: Partial<ErrorRecord>): GraphState =>
    stateWith({ errorHistory: [errorOf('a', parts)] });

  test.each([
    [1, 'implement'],
    [2, 'implement'],
    [3, 'pivot_agent'],
    [4, 'pivot_agent'],
  ] as const)('%d equal errors lead to %s', (consecutiveCount, route) => {
    expect(routeAfterError(after({ consecutiveCount }))).toBe(route);
  });

  test('an empty history leads to implement', () => expect(routeAfterError(stateWith())).toBe('implement'));

  test('only the last error counts', () => {
    const errorHistory = [errorOf('a', { consecutiveCount: 3 }), errorOf('b')];
    expect(routeAfterError(stateWith({ errorHistory }))).toBe('implement');
  });

  test.each(['research', 'design', 'distill'] as const)(
    'recovery from %s tries that stage again',
    (sourceNode) => {
      expect(routeRecovery(after({ sourceNode }))).toBe(sourceNode);
    },
  );

  test.each(['implement', 'verify', 'unknown'])('recovery from %s leads to implement', (sourceNode) => {
    expect(routeRecovery(after({ sourceNode }))).toBe('implement');
  });

  test('a stage that fails three times alike leads to a pivot', () => {
    expect(routeRecovery(after({ sourceNode: 'design', consecutiveCount: 3 }))).toBe('pivot_agent');
  });
});

describe('detectEntropy', () => {
  test.each<[string, readonly EntropyRecord[], string | null, boolean]>([
    ['no record', [], 't1', false],
    ['two equal outputs', [seen('t1', 2)], 't1', false],
    ['three equal outputs', [seen('t1', 3)], 't1', true],
    ['more of them', [seen('t1', 7)], 't1', true],
    ['three equal outputs of another task', [seen('t2', 3)], 't1', false],
    ['no active task', [seen('t1', 3)], null, false],
    ['one loop among several outputs', [seen('t1', 1), seen('t1', 3)], 't1', true],
  ])('%s', (_what, entropy, activeTaskId, expected) => {
    expect(detectEntropy(stateWith({ entropy, activeTaskId }))).toBe(expected);
  });
});

describe('findStaleOrDirtyStates', () => {
  test('finds nothing in an empty project', () => expect(findStaleOrDirtyStates(stateWith())).toEqual([]));

  test('finds the tasks that are in progress, in their order', () => {
    const tasks = [task('t1', 'completed'), task('t2', 'in_progress'), task('t3', 'in_progress')];
    expect(findStaleOrDirtyStates(stateWith({ tasks })).map(({ taskId }) => taskId)).toEqual(['t2', 't3']);
  });

  test('describes a task by id, name, status and epic', () => {
    expect(findStaleOrDirtyStates(stateWith({ tasks: [task('t1', 'in_progress')] }))).toEqual([
      { taskId: 't1', name: 'Task t1', status: 'in_progress', epicId: 'e1' },
    ]);
  });

  test.each(['pending', 'completed', 'failed', 'blocked', 'resumed'] as const)(
    'a %s task is not stale',
    (status) => {
      expect(findStaleOrDirtyStates(stateWith({ tasks: [task('t1', status)] }))).toEqual([]);
    },
  );
});

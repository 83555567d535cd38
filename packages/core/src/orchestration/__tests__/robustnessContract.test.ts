import { describe, expect, expectTypeOf, test } from 'vitest';
import * as robustness from '../robustness.ts';
import { routeAfterVerify } from '../routing.ts';
import { createInitialState, type GraphState, OrchestratorAnnotation } from '../types.ts';
import { AT, aState, aTask } from './aState.ts';

// The names, values and signatures that others rely on, as the specification of robustness.ts lists them.

type Update = Partial<GraphState>;

interface Named {
  readonly maskSensitiveData: (text: string) => string;
  readonly classifyError: (error: unknown) => robustness.ErrorKind;
  readonly buildErrorRecord: (
    error: unknown,
    sourceNode: string,
    taskId: string | null,
    consecutiveCount: number,
  ) => robustness.ErrorRecord;
  readonly countConsecutiveErrors: (
    history: readonly robustness.ErrorRecord[],
    message: string,
    taskId: string | null,
  ) => number;
  readonly errorNode: (state: GraphState) => Update;
  readonly pivotAgentNode: (state: GraphState) => Update;
  readonly checkTurnBudget: (state: GraphState) => Update | null;
  readonly incrementTurnBudget: (state: GraphState) => Update;
  readonly resetTurnBudget: () => Update;
  readonly routeAfterError: (state: GraphState) => robustness.ErrorRoute;
  readonly detectEntropy: (state: GraphState) => boolean;
  readonly findStaleOrDirtyStates: (state: GraphState) => robustness.StaleTaskInfo[];
}

describe('the names of robustness.ts', () => {
  test('are all there, with their signatures', () => {
    const named: Named = robustness; // the type check is the assertion
    const names: readonly (keyof Named)[] = [
      'maskSensitiveData',
      'classifyError',
      'buildErrorRecord',
      'countConsecutiveErrors',
      'errorNode',
      'pivotAgentNode',
      'checkTurnBudget',
      'incrementTurnBudget',
      'resetTurnBudget',
      'routeAfterError',
      'detectEntropy',
      'findStaleOrDirtyStates',
    ];
    for (const name of names) expect(named).toHaveProperty(name, expect.any(Function));
  });

  test('include the two types of routes and of stale tasks', () => {
    expectTypeOf<robustness.ErrorRoute>().toEqualTypeOf<'pivot_agent' | 'implement'>();
    expectTypeOf<robustness.ErrorKind>().toEqualTypeOf<'transient' | 'logic' | 'unknown'>();
    expectTypeOf<keyof robustness.StaleTaskInfo>().toEqualTypeOf<'taskId' | 'name' | 'status' | 'epicId'>();
    const stale = robustness.findStaleOrDirtyStates(aState({ tasks: [aTask(1, { status: 'in_progress' })] }));
    expect(stale.map((info) => Object.keys(info))).toEqual([['taskId', 'name', 'status', 'epicId']]);
  });

  test('make an ErrorRecord of exactly these fields, in this order', () => {
    expectTypeOf<robustness.ErrorRecord>().toEqualTypeOf<{
      readonly errorId: string;
      readonly capturedAt: string;
      readonly sourceNode: string;
      readonly message: string;
      readonly stackTrace: string;
      readonly kind: 'transient' | 'logic' | 'unknown';
      readonly consecutiveCount: number;
      readonly taskId: string | null;
    }>();
    expect(Object.keys(robustness.buildErrorRecord(new Error('No.'), 'verify', 't1', 2))).toEqual([
      'errorId',
      'capturedAt',
      'sourceNode',
      'message',
      'stackTrace',
      'kind',
      'consecutiveCount',
      'taskId',
    ]);
  });
});

describe('the state fields of recovery', () => {
  const initial = createInitialState({
    projectId: 'shop',
    name: 'Shop',
    description: '',
    status: 'initializing',
    createdAt: AT,
    updatedAt: AT,
  });

  test('errorHistory is a list of error records, empty at first', () => {
    expectTypeOf<GraphState['errorHistory']>().toEqualTypeOf<readonly robustness.ErrorRecord[]>();
    expect(initial.errorHistory).toEqual([]);
  });

  test('implementationTurns is a number, 0 at first', () => {
    expectTypeOf<GraphState['implementationTurns']>().toEqualTypeOf<number>();
    expect(initial.implementationTurns).toBe(0);
  });

  test('pendingRecoveryNode is the name of a node or null, null at first', () => {
    expectTypeOf<GraphState['pendingRecoveryNode']>().toEqualTypeOf<string | null>();
    expect(initial.pendingRecoveryNode).toBeNull();
  });

  test('are channels of the graph', () => {
    const channels = Object.keys(OrchestratorAnnotation.spec);
    expect(channels).toEqual(
      expect.arrayContaining(['errorHistory', 'implementationTurns', 'pendingRecoveryNode']),
    );
  });
});

describe('the edges of recovery', () => {
  test('a pending pivot comes before the retry of a failed task', () => {
    const failed = aState({ tasks: [aTask(1, { status: 'failed' })], activeTaskId: 'shop:1' });
    expect(routeAfterVerify(failed)).toBe('implement');
    expect(routeAfterVerify({ ...failed, pendingRecoveryNode: 'pivot_agent' })).toBe('pivot_agent');
  });
});

describe('the five masking patterns', () => {
  test.each([
    ['Bearer abc.def', 'Bearer [REDACTED]'],
    ['api_key=12345', '[API_KEY=REDACTED]'],
    ['AKIAIOSFODNN7EXAMPLE', '[AWS_KEY=REDACTED]'],
    ['password=hunter2', '[SECRET=REDACTED]'],
    ['secret=12345', '[SECRET=REDACTED]'],
    ['https://user:pass@host', 'https://[CREDENTIALS_REDACTED]@host'],
  ])('%s is masked to the letter', (text, masked) => {
    expect(robustness.maskSensitiveData(text)).toBe(masked);
    expect(robustness.buildErrorRecord(new Error(text), 'verify', null, 1).message).toBe(masked);
  });
});

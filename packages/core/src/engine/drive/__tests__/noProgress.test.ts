import {
  Command,
  END,
  GraphInterrupt,
  interrupt,
  NodeInterrupt,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { ada, OwnState, says, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { internalsOf } from '../../file/appInternals.ts';

/** Fails instead of spinning for ever. */
function counted() {
  const executions = { count: 0 };
  const count = (): void => {
    executions.count += 1;
    if (executions.count > 12) throw new Error('spins');
  };
  return { executions, count };
}

const oneNode = (node: (state: typeof OwnState.State) => unknown) =>
  new StateGraph(OwnState)
    .addNode('only', node as () => typeof OwnState.Update)
    .addEdge(START, 'only')
    .addEdge('only', END);

/** `ask` is called on the way from `first` to `second`. */
const withEdge = (ask: () => unknown) =>
  new StateGraph(OwnState)
    .addNode('first', says('first'))
    .addNode('second', says('second'))
    .addEdge(START, 'first')
    .addConditionalEdges('first', () => (ask() === true ? 'second' : END), ['second', END])
    .addEdge('second', END);

describe('an app inside a node of another', () => {
  test('drives its own run, under its own lease, on the same file', async ({ db }) => {
    const inner = durable(twoSteps(), { db });
    const outer = durable(
      oneNode(async () => {
        const { status, values } = await inner.run('inner', {});
        return { log: [status, ...(values?.log ?? [])] };
      }),
      { db },
    );
    expect(await outer.run('outer', {})).toMatchObject({
      status: 'completed',
      values: { log: ['completed', 'first', 'second'] },
    });
    expect((await inner.values('inner'))?.log).toEqual(['first', 'second']);
  });

  test('drives its own run on another file, and its question is its own', async ({ db, dbPath }) => {
    const other = createDatabase({ dbPath: `${dbPath}.other` });
    const inner = durable(
      twoSteps(() => ({ answer: interrupt('inner?') })),
      { db: other },
    );
    const seen: unknown[] = [];
    const outer = durable(
      oneNode(async () => {
        const { status, gates } = await inner.run('run', {});
        seen.push(status, gates[0]?.artifact);
        return { log: [status] };
      }),
      { db },
    );
    expect(await outer.run('run', {})).toMatchObject({ status: 'completed', values: { log: ['waiting'] } });
    expect(seen).toEqual(['waiting', 'inner?']);
    expect(await outer.gates('run')).toEqual([]);
    await inner.decide(only(await inner.gates('run')), { value: 1, by: ada });
    expect((await inner.run('run')).values?.answer).toBe(1);
    other.close();
  });
});

describe('a question thrown by hand', () => {
  test.for([
    ['NodeInterrupt', () => new NodeInterrupt('look at it')],
    ['GraphInterrupt', () => new GraphInterrupt([{ value: 'look at it' }])],
  ] as const)('as a %s is a gate, and the node runs again once it is answered', async ([, make], { db }) => {
    const { executions, count } = counted();
    let isReady = false;
    const app = durable(
      oneNode(() => {
        count();
        if (!isReady) throw make();
        return { log: ['ready'] };
      }),
      { db },
    );
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: 'look at it' });
    expect(only((await app.run('run')).gates).sessionId).toBe(gate.sessionId);
    await app.decide(gate, { value: 'done', by: ada });
    isReady = true;
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['ready'] } });
    expect(executions.count).toBe(2);
  });

  test('in a subgraph, too', async ({ db }) => {
    const { count } = counted();
    let isReady = false;
    const sub = oneNode(() => {
      count();
      if (!isReady) throw new NodeInterrupt('look at it');
      return { log: ['ready'] };
    }).compile();
    const app = durable(
      new StateGraph(OwnState).addNode('outer', sub).addEdge(START, 'outer').addEdge('outer', END),
      { db },
    );
    await app.decide(only((await app.run('run', {})).gates), { value: 'done', by: ada });
    isReady = true;
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['ready'] } });
  });

  test('again after its answer is no progress: the run has failed, and goes on when the node does', async ({
    db,
  }) => {
    const { executions, count } = counted();
    let isReady = false;
    const app = durable(
      oneNode(() => {
        count();
        if (!isReady) throw new NodeInterrupt('look at it');
        return { log: ['ready'] };
      }),
      { db },
    );
    await app.decide(only((await app.run('run', {})).gates), { value: 'done', by: ada });
    for (const executed of [2, 3]) {
      expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({
        status: 'failed',
        reason: expect.stringMatching(/^NO_PROGRESS: /),
      });
      expect(executions.count).toBe(executed);
    }
    isReady = true;
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['ready'] } });
  });
});

describe('a run that waits beside a branch that wrote nothing', () => {
  test('waits on, and its node does not run again, however often it is driven', async ({ db }) => {
    let visits = 0;
    const asks = () => {
      visits += 1;
      return { answer: interrupt('Well?') };
    };
    const app = durable(
      twoBranches(asks, () => ({})),
      { db },
    );
    for (const _drive of [1, 2, 3]) expect(await app.run('run', {})).toMatchObject({ status: 'waiting' });
    expect(visits).toBe(1);
    await app.decide(only(await app.gates('run')), { value: 'yes', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { answer: 'yes' } });
  });
});

describe('a question on an edge', () => {
  test('is a gate, where LangGraph can go on with its answer', async ({ db }) => {
    const { count } = counted();
    const app = durable(
      withEdge(() => {
        count();
        return interrupt('go on?');
      }),
      { db },
    );
    const gate = only((await app.run('run', {})).gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: 'go on?' });
    expect(
      internalsOf(app)
        .store.log.list('run')
        .map(({ name }) => name),
    ).toContain('HITL_SESSION_OPENED');
    await app.decide(gate, { value: true, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('that has no id ends the run, which can be driven again', async ({ db }) => {
    const { executions, count } = counted();
    let isReady = false;
    const app = durable(
      withEdge(() => {
        count();
        if (!isReady) throw new GraphInterrupt([{ value: 'go on?' }]);
        return true;
      }),
      { db },
    );
    for (const executed of [1, 2]) {
      const { status, reason } =
        executed === 1
          ? await app.run('run', {}, { throwOnFailure: false })
          : await app.run('run', undefined, { throwOnFailure: false });
      expect({ status, reason }).toEqual({
        status: 'failed',
        reason: expect.stringMatching(/^INTERRUPT_IN_EDGE: /),
      });
      expect(executions.count).toBe(executed);
    }
    isReady = true;
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('before the first node is a gate, too', async ({ db }) => {
    const { count } = counted();
    const builder = new StateGraph(OwnState)
      .addNode('second', says('second'))
      .addConditionalEdges(START, () => {
        count();
        return interrupt('begin?') === true ? 'second' : END;
      }, ['second', END])
      .addEdge('second', END);
    const app = durable(builder, { db });
    await app.decide(only((await app.run('run', {})).gates), { value: true, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['second'] } });
  });
});

describe('a Command as input', () => {
  test.for([
    ['goto', new Command({ goto: 'second' })],
    ['resume', new Command({ resume: true })],
    ['update', new Command({ update: { log: ['x'] } })],
  ] as const)('is refused before anything is recorded: %s', async ([, command], { db }) => {
    const app = durable(twoSteps(), { db });
    await expect(app.run('run', command as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(app.run('run')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await app.run('run', {});
    await expect(app.run('run', command as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('static breakpoints', () => {
  test('in a subgraph that keeps no checkpoint cannot be passed, as by LangGraph, and are not run through', async ({
    db,
  }) => {
    const ran: string[] = [];
    const second = () => {
      ran.push('second');
      return { log: ['second'] };
    };
    const sub = twoSteps(undefined, second).compile({ interruptBefore: ['second'], checkpointer: false });
    const builder = new StateGraph(OwnState)
      .addNode('outer', sub)
      .addEdge(START, 'outer')
      .addEdge('outer', END);
    const { status, reason } = await durable(builder, { db }).run('run', {}, { throwOnFailure: false });
    expect({ status, reason }).toEqual({ status: 'failed', reason: expect.stringContaining('NO_PROGRESS') });
    expect(ran).toEqual([]);
  });
});

test('a drive lets timers run between its turns', async ({ db }) => {
  const app = durable(twoSteps().compile({ interruptBefore: ['second'] }), { db });
  let ticks = 0;
  let isDriven = true;
  const tick = (): void => {
    ticks += 1;
    if (isDriven) setImmediate(tick);
  };
  setImmediate(tick);
  // A turn to the stop, and one that finds it.
  expect(await app.run('run', {})).toMatchObject({ status: 'waiting' });
  isDriven = false;
  expect(ticks).toBeGreaterThan(0);
});

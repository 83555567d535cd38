import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { DevsError } from '../../../errors/DevsError.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../durable.ts';
import { step } from '../step.ts';

const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  rounds: Annotation<number>({ reducer: (_, right) => right, default: () => 0 }),
});

/** The calls a test made, as their functions were told of them. */
function ledger() {
  const made: string[] = [];
  const keys: string[] = [];
  const post = (what: string) =>
    step('post', ({ key }) => {
      made.push(what);
      keys.push(key);
      return what;
    });
  return { made, keys, post };
}

type Post = ReturnType<typeof ledger>['post'];

const chargeAndMail = (post: Post) =>
  new StateGraph(State)
    .addNode('charge', async () => ({ log: [await post('charged')] }))
    .addNode('ask', () => {
      interrupt('Go on?');
      return {};
    })
    .addNode('mail', async () => ({ log: [await post('mailed')] }))
    .addEdge(START, 'charge')
    .addEdge('charge', 'ask')
    .addEdge('ask', 'mail')
    .addEdge('mail', END)
    .compile();

/** A graph whose one node is another graph. */
const around = (inner: object) =>
  new StateGraph(State)
    .addNode('outer', inner as ReturnType<typeof chargeAndMail>)
    .addEdge(START, 'outer')
    .addEdge('outer', END);

/** A graph whose one node does as its author says. */
const doing = (work: (state: typeof State.State) => Promise<typeof State.Update>) =>
  new StateGraph(State).addNode('outer', work).addEdge(START, 'outer').addEdge('outer', END);

/** Records the steps of a file as version 0.1.0 did: under the task of the outer node. */
function asBefore(db: Database): void {
  db.exec("UPDATE agent_steps SET lg_task_id = substr(lg_task_id, 1, instr(lg_task_id || '/', '/') - 1)");
}

const visitsIn = (db: Database): readonly string[] =>
  db.prepare<[], string>('SELECT lg_task_id FROM agent_steps ORDER BY started_at').pluck().all();

describe('a step in a subgraph', () => {
  test('gets its own result: behind an answer, too', async ({ db }) => {
    const { made, keys, post } = ledger();
    const app = durable(around(chargeAndMail(post)), { db });
    const waiting = await app.run('run', {});
    await app.decide(only(waiting.gates), { value: true, by: ada });
    const { status, values } = await app.run('run');
    expect([status, values?.log, made]).toEqual(['completed', ['charged', 'mailed'], ['charged', 'mailed']]);
    expect(new Set(keys).size).toBe(2);
  });

  test('belongs to the visit of the node around it', async ({ db }) => {
    const { post } = ledger();
    const app = durable(around(chargeAndMail(post)), { db });
    await app.run('run', {});
    const { tasks } = await app.graph.getState({ configurable: { thread_id: 'run' } });
    expect(app.store.steps.hasVisit('run', only(tasks).id)).toBe(true);
    expect(app.store.steps.hasVisit('run', only(tasks).id.slice(0, -1))).toBe(false);
  });

  test('is not made again when its node runs again', async ({ db }) => {
    const { made, post } = ledger();
    let failures = 2;
    const inner = new StateGraph(State)
      .addNode('first', async () => ({ log: [await post('first')] }))
      .addNode('second', async () => {
        const log = [await post('second')];
        failures -= 1;
        if (failures >= 0) throw new Error('flaky');
        return { log };
      })
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .addEdge('second', END)
      .compile();
    const app = durable(around(inner), { db });
    for (const status of ['failed', 'failed', 'completed']) {
      expect((await app.run('run', {})).status).toBe(status);
    }
    expect(made).toEqual(['first', 'second']);
  });

  test('is another one in every turn of a loop, and in every branch', async ({ db }) => {
    const { made, keys, post } = ledger();
    const inner = new StateGraph(State)
      .addNode('turn', async ({ rounds }) => ({ log: [await post(`turn ${rounds}`)], rounds: rounds + 1 }))
      .addNode('branch', async ({ rounds }) => ({ log: [await post(`branch ${rounds}`)] }))
      .addEdge(START, 'turn')
      .addConditionalEdges('turn', ({ rounds }) =>
        rounds < 3 ? 'turn' : [1, 2].map((at) => new Send('branch', { rounds: at })),
      )
      .addEdge('branch', END)
      .compile();
    const { status } = await durable(around(inner), { db }).run('run', {});
    expect(status).toBe('completed');
    expect(made).toEqual(['turn 0', 'turn 1', 'turn 2', 'branch 1', 'branch 2']);
    expect(new Set(keys).size).toBe(5);
  });

  test('is recorded where the subgraph is called by a function', async ({ db }) => {
    const { made, post } = ledger();
    const inner = chargeAndMail(post);
    const app = durable(
      doing(async () => {
        const first = await post('outer');
        const { log } = await inner.invoke({});
        return { log: [first, ...log] };
      }),
      { db },
    );
    const waiting = await app.run('run', {});
    await app.decide(only(waiting.gates), { value: true, by: ada });
    const { values } = await app.run('run');
    expect(values?.log).toEqual(['outer', 'charged', 'mailed']);
    expect(made).toEqual(['outer', 'charged', 'mailed']);
  });

  test('is not made again where the subgraph keeps no checkpoints', async ({ db }) => {
    const { made, post } = ledger();
    const inner = new StateGraph(State)
      .addNode('turn', async ({ rounds }) => ({ log: [await post(`turn ${rounds}`)], rounds: rounds + 1 }))
      .addEdge(START, 'turn')
      .addConditionalEdges('turn', ({ rounds }) => (rounds < 3 ? 'turn' : END))
      .compile({ checkpointer: false });
    const app = durable(
      doing(async () => {
        const { log } = await inner.invoke({});
        interrupt('Go on?');
        return { log };
      }),
      { db },
    );
    const waiting = await app.run('run', {});
    await app.decide(only(waiting.gates), { value: true, by: ada });
    expect((await app.run('run')).values?.log).toEqual(['turn 0', 'turn 1', 'turn 2']);
    expect(made).toEqual(['turn 0', 'turn 1', 'turn 2']);
  });

  test('uses its name again when LangGraph retries its task', async ({ db }) => {
    const { made, post } = ledger();
    let failures = 1;
    const inner = new StateGraph(State)
      .addNode(
        'flaky',
        async () => {
          const log = [await post('posted')];
          failures -= 1;
          if (failures >= 0) throw new Error('flaky');
          return { log };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'flaky')
      .addEdge('flaky', END)
      .compile();
    const { status } = await durable(around(inner), { db }).run('run', {});
    expect([status, made]).toEqual(['completed', ['posted']]);
  });

  test('uses its name again when LangGraph retries its task in a retried node', async ({ db }) => {
    const { made, post } = ledger();
    const down = { outer: 1, inner: 1 };
    const retryPolicy = { maxAttempts: 2, initialInterval: 1, logWarning: false } as const;
    const inner = new StateGraph(State)
      .addNode(
        'flaky',
        async () => {
          const log = [await post('posted')];
          if (down.inner-- > 0) throw new Error('flaky');
          return { log };
        },
        { retryPolicy },
      )
      .addEdge(START, 'flaky')
      .compile();
    const builder = new StateGraph(State)
      .addNode(
        'outer',
        async () => {
          if (down.outer-- > 0) throw new Error('flaky');
          return inner.invoke({});
        },
        { retryPolicy },
      )
      .addEdge(START, 'outer');
    const { status, reason } = await durable(builder, { db }).run('run', {});
    expect([status, reason, made]).toEqual(['completed', null, ['posted']]);
  });

  test('has its name once in each place', async ({ db }) => {
    const { post } = ledger();
    const inner = new StateGraph(State)
      .addNode('twice', async () => ({ log: [await post('a'), await post('b')] }))
      .addEdge(START, 'twice')
      .addEdge('twice', END)
      .compile();
    const { status, reason } = await durable(around(inner), { db }).run('run', {});
    expect([status, reason]).toEqual(['failed', expect.stringContaining('"post" was used before')]);
  });
});

const ToolState = MessagesAnnotation;
const call = (id: string, name = 'book') => ({ name, args: { what: id }, id, type: 'tool_call' as const });

/** A model's message that calls tools, and the node that runs them. */
function booking(post: Post, calls = [call('call/1'), call('call 2')], asks = false) {
  const book = tool(
    async ({ what }) => {
      const posted = await post(what);
      if (asks) interrupt(`Book ${what}?`);
      return posted;
    },
    { name: 'book', description: 'Books something.', schema: z.object({ what: z.string() }) },
  );
  return new StateGraph(ToolState)
    .addNode('agent', () => ({ messages: [new AIMessage({ content: '', tool_calls: calls })] }))
    .addNode('tools', new ToolNode([book]))
    .addEdge(START, 'agent')
    .addEdge('agent', 'tools')
    .addEdge('tools', END);
}

describe('a step in a tool', () => {
  test('is another one in each of the calls of one message', async ({ db }) => {
    const { made, keys, post } = ledger();
    const { values } = await durable(booking(post), { db }).run('run', { messages: [] });
    expect(values?.messages.map(({ text }) => text)).toEqual(['', 'call/1', 'call 2']);
    expect(made).toEqual(['call/1', 'call 2']);
    expect(new Set(keys).size).toBe(2);
  });

  test('gets its own result when its node runs again', async ({ db }) => {
    const { made, post } = ledger();
    const app = durable(booking(post, [call('a'), call('b')], true), { db });
    for (let asked = 0; asked < 2; asked += 1) {
      const waiting = await app.run('run', { messages: [] });
      for (const gate of waiting.gates) await app.decide(gate, { value: true, by: ada });
    }
    const { status, values } = await app.run('run');
    expect(status).toBe('completed');
    expect(values?.messages.map(({ text }) => text)).toEqual(['', 'a', 'b']);
    expect(made).toEqual(['a', 'b']);
  });

  test('is told from others in a subgraph, in a tool within a tool, and behind a function', async ({
    db,
  }) => {
    const { made, post } = ledger();
    const inner = tool(async () => post('inner'), { name: 'inner', description: '-', schema: z.object({}) });
    const outer = tool(
      async () =>
        [await post('outer'), await inner.invoke({ name: 'inner', args: {}, id: 'i', type: 'tool_call' })]
          .length,
      { name: 'book', description: '-', schema: z.object({ what: z.string() }) },
    );
    const tools = new StateGraph(ToolState)
      .addNode('tools', (state) => new ToolNode([outer]).invoke(state))
      .addEdge(START, 'tools')
      .addEdge('tools', END)
      .compile();
    const builder = new StateGraph(ToolState)
      .addNode('agent', () => ({ messages: [new AIMessage({ content: '', tool_calls: [call('a')] })] }))
      .addNode('tools', tools)
      .addEdge(START, 'agent')
      .addEdge('agent', 'tools')
      .addEdge('tools', END);
    const { status } = await durable(builder, { db }).run('run', { messages: [] });
    expect([status, made]).toEqual(['completed', ['outer', 'inner']]);
  });
});

describe('a step that version 0.1.0 recorded under the node', () => {
  test('is taken where it was begun after the checkpoint of its task, and nowhere else', async ({ db }) => {
    const { made, post } = ledger();
    const app = durable(around(chargeAndMail(post)), { db });
    const waiting = await app.run('run', {});
    asBefore(db);
    await app.decide(only(waiting.gates), { value: true, by: ada });
    const { values } = await app.run('run');
    expect([values?.log, made]).toEqual([
      ['charged', 'mailed'],
      ['charged', 'mailed'],
    ]);
  });

  test('is not made again by the task that made it', async ({ db }) => {
    const { made, post } = ledger();
    const inner = new StateGraph(State)
      .addNode('first', () => ({ log: ['first'] }))
      .addNode('pay', async () => {
        const log = [await post('paid')];
        interrupt('Go on?');
        return { log };
      })
      .addEdge(START, 'first')
      .addEdge('first', 'pay')
      .addEdge('pay', END)
      .compile();
    const app = durable(around(inner), { db });
    const waiting = await app.run('run', {});
    asBefore(db);
    await app.decide(only(waiting.gates), { value: true, by: ada });
    const { values } = await app.run('run');
    expect([values?.log, made]).toEqual([['first', 'paid'], ['paid']]);
    expect(visitsIn(db)).toEqual([expect.not.stringContaining('/')]);
  });

  test('is not made again by a retry of that task', async ({ db }) => {
    const { made, post } = ledger();
    let failures = -1;
    const inner = new StateGraph(State)
      .addNode('first', () => ({ log: ['first'] }))
      .addNode(
        'pay',
        async () => {
          const log = [await post('paid')];
          interrupt('Go on?');
          failures -= 1;
          if (failures >= 0) throw new Error('flaky');
          return { log };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, logWarning: false } },
      )
      .addEdge(START, 'first')
      .addEdge('first', 'pay')
      .addEdge('pay', END)
      .compile();
    const app = durable(around(inner), { db });
    const waiting = await app.run('run', {});
    asBefore(db);
    await app.decide(only(waiting.gates), { value: true, by: ada });
    failures = 1;
    const { status } = await app.run('run');
    expect([status, made]).toEqual(['completed', ['paid']]);
  });

  test('stops the run where two branches may have made it, before any call', async ({ db }) => {
    const { made, post } = ledger();
    const branch = (name: string) => async () => {
      interrupt(`${name}?`);
      return { log: [await post(name)] };
    };
    const inner = new StateGraph(State)
      .addNode('left', branch('left'))
      .addNode('right', async () => ({ log: [await post('right')] }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile();
    const app = durable(around(inner), { db });
    const waiting = await app.run('run', {});
    asBefore(db);
    await app.decide(only(waiting.gates), { value: true, by: ada });
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(app.run('run')).rejects.toMatchObject({
        code: 'STEP_AMBIGUOUS',
        context: { name: 'post' },
      });
    }
    expect(made).toEqual(['right']);
    db.exec('DELETE FROM agent_steps');
    expect((await app.run('run')).status).toBe('completed');
    expect(made).toEqual(['right', 'left']);
  });

  test('stops the run where two calls of a message may have made it, whatever the tool makes of that', async ({
    db,
  }) => {
    const { made, post } = ledger();
    const app = durable(booking(post, [call('a'), call('b')], true), { db });
    const waiting = await app.run('run', { messages: [] });
    db.exec("DELETE FROM agent_steps WHERE lg_task_id LIKE '%/b'");
    asBefore(db);
    for (const gate of waiting.gates) await app.decide(gate, { value: true, by: ada });
    await expect(app.run('run')).rejects.toMatchObject({ code: 'STEP_AMBIGUOUS' });
    expect(made).toEqual(['a', 'b']);
  });
});

describe('a fault of the engine in a step of a tool', () => {
  test('stops the run and is not told to the model', async ({ db }) => {
    const post = () =>
      step('post', () => {
        throw new DevsError('The file is gone.', { code: 'STATE_IO', remedy: 'Look for it.' });
      });
    const app = durable(booking(post), { db });
    await expect(app.run('run', { messages: [] })).rejects.toMatchObject({ code: 'STATE_IO' });
  });
});

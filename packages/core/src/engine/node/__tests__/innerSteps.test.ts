import type { CallbackManager } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, type ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { RunnableLambda } from '@langchain/core/runnables';
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
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { plant } from '../../../../test/support/runs/places.ts';
import { DevsError } from '../../../errors/DevsError.ts';
import { ada, bob } from '../../__tests__/ownGraph.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { Gate, GateAnswer } from '../../gates/Gate.ts';
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
  db.exec(
    "UPDATE agent_steps SET lg_task_id = substr(lg_task_id, 1, instr(lg_task_id || '/', '/') - 1), seal = NULL",
  );
}

/** Says yes to every further question of the tools, and to no question of the engine. */
async function answerInterrupts(app: {
  readonly run: (id: string) => Promise<{ readonly gates: readonly Gate[] }>;
  readonly decide: (gate: Gate, answer: GateAnswer) => Promise<unknown>;
}): Promise<void> {
  for (let { gates } = await app.run('run'); gates.length > 0; { gates } = await app.run('run')) {
    for (const gate of gates) await app.decide(gate, { value: true, by: ada });
  }
}

/** What the decision log says was answered. */
const loggedDecisions = (db: Database): readonly unknown[] =>
  db
    .prepare<[], string>('SELECT body_json FROM hitl_decisions')
    .pluck()
    .all()
    .map((body) => (JSON.parse(body) as { readonly decision: unknown }).decision);

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
    const { tasks } = await app.getState('run');
    expect(internalsOf(app).store.steps.hasVisit('run', only(tasks).id)).toBe(true);
    expect(internalsOf(app).store.steps.hasVisit('run', only(tasks).id.slice(0, -1))).toBe(false);
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
      expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe(status);
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
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge(START, 'flaky')
      .addEdge('flaky', END)
      .compile();
    const { status } = await durable(around(inner), { db }).run('run', {});
    expect([status, made]).toEqual(['completed', ['posted']]);
  });

  test.for([
    ['a ToolNode', (tools: ToolNode) => tools],
    ['a function that runs one', (tools: ToolNode) => (state: object) => tools.invoke(state)],
  ] as const)(
    'in a tool of %s uses its name again when LangGraph retries the task',
    async ([, nodeOf], { db }) => {
      const { made, post } = ledger();
      let failures = 1;
      const flaky = tool(
        async ({ what }) => {
          const posted = await post(what);
          failures -= 1;
          if (failures >= 0) throw new Error('flaky');
          return posted;
        },
        { name: 'book', description: '-', schema: z.object({ what: z.string() }) },
      );
      const inner = new StateGraph(ToolState)
        .addNode('tools', nodeOf(new ToolNode([flaky], { handleToolErrors: false })), {
          retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false },
        })
        .addEdge(START, 'tools')
        .addEdge('tools', END)
        .compile();
      const builder = new StateGraph(ToolState)
        .addNode('outer', inner)
        .addEdge(START, 'outer')
        .addEdge('outer', END);
      const messages = [new AIMessage({ content: '', tool_calls: [call('a')] })];
      const { status, reason } = await durable(builder, { db }).run('run', { messages });
      expect([status, reason, made]).toEqual(['completed', null, ['a']]);
    },
  );

  test('uses its name again when LangGraph retries its task in a retried node', async ({ db }) => {
    const { made, post } = ledger();
    const down = { outer: 1, inner: 1 };
    const retryPolicy = { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false } as const;
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

  test('is not made again when LangGraph retries the node that called its graph', async ({ db }) => {
    const { made, post } = ledger();
    let failures = 1;
    const inner = new StateGraph(State)
      .addNode('post', async () => ({ log: [await post('posted')] }))
      .addEdge(START, 'post')
      .compile();
    const builder = new StateGraph(State)
      .addNode(
        'flaky',
        async () => {
          const { log } = await inner.invoke({});
          failures -= 1;
          if (failures >= 0) throw new Error('flaky');
          return { log };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge(START, 'flaky');
    const { status, reason } = await durable(builder, { db }).run('run', {});
    expect([status, reason, made]).toEqual(['completed', null, ['posted']]);
  });

  test('uses its name again when LangGraph retries a task around its own', async ({ db }) => {
    const { made, post } = ledger();
    let failures = 1;
    const inner = new StateGraph(State)
      .addNode('post', async () => ({ log: [await post('posted')] }))
      .addEdge(START, 'post')
      .compile();
    const middle = new StateGraph(State)
      .addNode(
        'flaky',
        async () => {
          const { log } = await inner.invoke({});
          failures -= 1;
          if (failures >= 0) throw new Error('flaky');
          return { log };
        },
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge(START, 'flaky')
      .compile();
    const { status, reason } = await durable(around(middle), { db }).run('run', {});
    expect([status, reason, made]).toEqual(['completed', null, ['posted']]);
  });

  const flaky = (node: () => Promise<typeof State.Update>) =>
    new StateGraph(State)
      .addNode('flaky', node, {
        retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false },
      })
      .addEdge(START, 'flaky');

  test('is not made again after an answer to a retry that came further than the first attempt', async ({
    db,
  }) => {
    const { made, keys, post } = ledger();
    let failures = 1;
    const inner = new StateGraph(State)
      .addNode('first', async () => {
        const log = [await post('first')];
        failures -= 1;
        if (failures >= 0) throw new Error('flaky');
        return { log };
      })
      .addNode('second', async () => ({ log: [await post('second')] }))
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .compile();
    const app = durable(
      flaky(async () => {
        const { log } = await inner.invoke({});
        interrupt('Go on?');
        return { log };
      }),
      { db },
    );
    const waiting = await app.run('run', {});
    await app.decide(only(waiting.gates), { value: true, by: ada });
    const { status, values } = await app.run('run');
    expect([status, values?.log, made]).toEqual(['completed', ['first', 'second'], ['first', 'second']]);
    expect(new Set(keys).size).toBe(2);
  });

  test('is another one where the retry takes another way, or calls more graphs', async ({ db }) => {
    const { made, post } = ledger();
    let attempts = 0;
    const inner = new StateGraph(State)
      .addNode('left', async ({ rounds }) => ({ log: [await post(`left ${rounds}`)] }))
      .addNode('right', async ({ rounds }) => ({ log: [await post(`right ${rounds}`)] }))
      .addConditionalEdges(START, () => (attempts === 1 ? 'left' : 'right'), ['left', 'right'])
      .compile();
    const app = durable(
      flaky(async () => {
        attempts += 1;
        const log = [...(await inner.invoke({ rounds: 1 })).log];
        if (attempts === 1) throw new Error('flaky');
        log.push(...(await inner.invoke({ rounds: 2 })).log);
        return { log };
      }),
      { db },
    );
    const { status, values } = await app.run('run', {});
    expect([status, values?.log]).toEqual(['completed', ['right 1', 'right 2']]);
    expect(made).toEqual(['left 1', 'right 1', 'right 2']);
  });

  test('is not made again in a retried node where the subgraph keeps no checkpoints', async ({ db }) => {
    const { made, post } = ledger();
    let failures = 1;
    const inner = new StateGraph(State)
      .addNode('post', async () => ({ log: [await post('posted')] }))
      .addEdge(START, 'post')
      .compile({ checkpointer: false });
    const app = durable(
      flaky(async () => {
        const { log } = await inner.invoke({});
        failures -= 1;
        if (failures >= 0) throw new Error('flaky');
        return { log };
      }),
      { db },
    );
    expect([(await app.run('run', {})).status, made]).toEqual(['completed', ['posted']]);
  });

  test('is behind one question where the first attempt at its node began no graph', async ({ db }) => {
    const { made, post } = ledger();
    const inner = chargeAndMail(post);
    let failures = 1;
    const app = durable(
      flaky(async () => {
        failures -= 1;
        if (failures >= 0) throw new Error('flaky');
        return inner.invoke({});
      }),
      { db },
    );
    const waiting = await app.run('run', {});
    await app.decide(only(waiting.gates), { value: true, by: ada });
    expect([(await app.run('run')).status, made]).toEqual(['completed', ['charged', 'mailed']]);
  });

  test('has its name once in each place', async ({ db }) => {
    const { post } = ledger();
    const inner = new StateGraph(State)
      .addNode('twice', async () => ({ log: [await post('a'), await post('b')] }))
      .addEdge(START, 'twice')
      .addEdge('twice', END)
      .compile();
    const { status, reason } = await durable(around(inner), { db }).run('run', {}, { throwOnFailure: false });
    expect([status, reason]).toEqual(['failed', expect.stringContaining('"post" is already used')]);
  });
});

const ToolState = MessagesAnnotation;
const call = (id: string, name = 'book') => ({ name, args: { what: id }, id, type: 'tool_call' as const });

/**
 * A model's message that calls tools, and the node that runs them. The first that asks ends what is beside it, so they ask once
 * all have posted, however slow the machine is.
 */
function booking(post: Post, calls = [call('call/1'), call('call 2')], asks = false) {
  const left = new Set(calls.map(({ args }) => args.what));
  let havePosted = (): void => {};
  const all = new Promise<void>((resolve) => {
    havePosted = resolve;
  });
  const book = tool(
    async ({ what }) => {
      const posted = await post(what);
      left.delete(what);
      if (left.size === 0) havePosted();
      if (!asks) return posted;
      await all;
      interrupt(`Book ${what}?`);
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

const bookTool = (post: Post) =>
  tool(async ({ what }) => post(what), {
    name: 'book',
    description: '-',
    schema: z.object({ what: z.string() }),
  });

/** Calls a tool twice in its first message, and is content with the second. */
class BookingModel extends BaseChatModel {
  override _llmType(): string {
    return 'booking';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: readonly BaseMessage[]): Promise<ChatResult> {
    const isAsked = messages.length > 0;
    const message = new AIMessage({ content: '', tool_calls: isAsked ? [] : [call('a'), call('b')] });
    return { generations: [{ text: '', message }] };
  }
}

/** A graph whose one node answers with the results of what it runs. */
const answering = (work: () => Promise<readonly unknown[]>) =>
  doing(async () => ({ log: (await work()).map((message) => (message as ToolMessage).text) }));

describe('a tool call is known to what its tool runs', () => {
  test('where a function calls one tool twice, side by side', async ({ db }) => {
    const { made, keys, post } = ledger();
    const book = bookTool(post);
    const builder = answering(() => Promise.all(['a', 'b'].map((id) => book.invoke(call(id)))));
    expect((await durable(builder, { db }).run('run', {})).values?.log).toEqual(['a', 'b']);
    expect([made, new Set(keys).size]).toEqual([['a', 'b'], 2]);
  });

  test('behind further runnables, a sequence and a graph', async ({ db }) => {
    const { made, keys, post } = ledger();
    const graph = doing(async () => ({ log: [await post('graph')] })).compile();
    const sequence = RunnableLambda.from((what: string) => what).pipe(
      RunnableLambda.from(async (what: string) => [await post(what), ...(await graph.invoke({})).log].join()),
    );
    const book = tool(async ({ what }) => sequence.invoke(what), {
      name: 'book',
      description: '-',
      schema: z.object({ what: z.string() }),
    });
    const builder = answering(() => Promise.all(['a', 'b'].map((id) => book.invoke(call(id)))));
    expect((await durable(builder, { db }).run('run', {})).values?.log).toEqual(['a,graph', 'b,graph']);
    expect([made.toSorted(), new Set(keys).size]).toEqual([['a', 'b', 'graph', 'graph'], 4]);
  });

  test('in an agent that is a node', async ({ db }) => {
    const { made, keys, post } = ledger();
    const agent = createReactAgent({ llm: new BookingModel({}), tools: [bookTool(post)] });
    const builder = new StateGraph(ToolState)
      .addNode('agent', agent)
      .addEdge(START, 'agent')
      .addEdge('agent', END);
    const { status } = await durable(builder, { db }).run('run', { messages: [] });
    expect(status).toBe('completed');
    expect([made, new Set(keys).size]).toEqual([['a', 'b'], 2]);
  });

  test('where a listener hears every run, as it does without durable()', async ({ db }) => {
    const runsHeard = async (run: (listener: object) => Promise<unknown>): Promise<readonly string[]> => {
      const heard: string[] = [];
      const note =
        (kind: string) =>
        (_serialized: unknown, _input: unknown, runId: string, parent?: string): void => {
          heard.push(`${kind} ${parent === undefined ? 'alone' : 'inside'} ${runId === parent}`);
        };
      await run({ handleChainStart: note('chain'), handleToolStart: note('tool') });
      return heard;
    };
    const { made, keys, post } = ledger();
    const plain = booking(async (what) => what);
    const listened = await runsHeard((listener) =>
      durable(
        booking(post)
          .compile()
          .withConfig({ callbacks: [listener] }) as never,
        { db },
      ).run('run', {
        messages: [],
      }),
    );
    const alone = await runsHeard((listener) => plain.compile().invoke({}, { callbacks: [listener] }));
    expect(alone).toContain('tool inside false');
    expect(listened).toEqual(alone);
    expect([made, new Set(keys).size]).toEqual([['call/1', 'call 2'], 2]);
  });

  test('and LangChain starts no run of a chain for it', async ({ db }) => {
    const found: unknown[] = [];
    const inner = RunnableLambda.from((_input: object, config) => {
      const { handlers, getParentRunId } = config.callbacks as CallbackManager;
      found.push([handlers, getParentRunId.call(config.callbacks)]);
    });
    const builder = doing(async () => {
      await inner.invoke({});
      return {};
    });
    await durable(builder, { db }).run('run', {});
    expect(found).toEqual([[[], undefined]]);
  });
});

describe('a step that version 0.1.0 recorded under the node', () => {
  test('is taken where it was begun after the checkpoint of its task, and nowhere else', async ({ db }) => {
    const { made, post } = ledger();
    const app = durable(around(chargeAndMail(post)), { db });
    const waiting = await app.run('run', {});
    await plant(db, asBefore);
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
    await plant(db, asBefore);
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
        { retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false } },
      )
      .addEdge(START, 'first')
      .addEdge('first', 'pay')
      .addEdge('pay', END)
      .compile();
    const app = durable(around(inner), { db });
    const waiting = await app.run('run', {});
    await plant(db, asBefore);
    await app.decide(only(waiting.gates), { value: true, by: ada });
    failures = 1;
    const { status } = await app.run('run');
    expect([status, made]).toEqual(['completed', ['paid']]);
  });

  test.for([
    ['use', 'right', ['right']],
    ['repeat', 'left', ['right', 'left']],
  ] as const)(
    'is %sd as a human says where two branches may have made it',
    async ([action, result, calls], { db }) => {
      const { made, keys, post } = ledger();
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
      await plant(db, asBefore);
      await app.decide(only(waiting.gates), { value: true, by: ada });
      const asked = await app.run('run');
      const gate = only(asked.gates);
      expect(gate).toMatchObject({
        kind: 'step',
        message: expect.stringContaining('Is it the call of outer > left?'),
        artifact: { node: 'outer', step: 'post', place: ['outer', 'left'], state: 'done', result: 'right' },
      });
      expect(only((await app.run('run')).gates)).toEqual(gate); // driven again, the same question
      await expect(app.decide(gate, { action: 'retry', by: ada })).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
      });
      expect(made).toEqual(['right']);

      await app.decide(gate, { action, by: ada });
      await expect(app.decide(gate, { action: 'use', by: bob })).rejects.toMatchObject({
        code: 'GATE_ALREADY_DECIDED',
        context: { principal: 'human:ada' },
      });
      const { status, values } = await app.run('run');
      expect([status, values?.log.toSorted()]).toEqual(['completed', [result, 'right'].toSorted()]);
      expect([made, new Set(keys).size]).toEqual([calls, calls.length]);
      expect(loggedDecisions(db)).toContainEqual({ action });
    },
  );

  test('is asked about one place at a time: once it is used there, it is no other', async ({ db }) => {
    const { made, post } = ledger();
    const app = durable(booking(post, [call('a'), call('b')], true), { db });
    const waiting = await app.run('run', { messages: [] });
    await plant(db, (file) => file.exec("DELETE FROM agent_steps WHERE lg_task_id LIKE '%/b'"));
    await plant(db, asBefore);
    for (const gate of waiting.gates) await app.decide(gate, { value: true, by: ada });
    await app.decide(only((await app.run('run')).gates), { action: 'use', by: ada });
    await answerInterrupts(app);
    const { status, values } = await app.run('run');
    expect([status, values?.messages.map(({ text }) => text)]).toEqual(['completed', ['', 'a', 'b']]);
    expect(made).toEqual(['a', 'b', 'b']);
  });

  test('is told from others by a human where two calls of a message may have made it, whatever the tool makes of that', async ({
    db,
  }) => {
    const { made, post } = ledger();
    const app = durable(booking(post, [call('a'), call('b')], true), { db });
    const waiting = await app.run('run', { messages: [] });
    await plant(db, (file) => file.exec("DELETE FROM agent_steps WHERE lg_task_id LIKE '%/b'"));
    await plant(db, asBefore);
    for (const gate of waiting.gates) await app.decide(gate, { value: true, by: ada });
    const first = only((await app.run('run')).gates);
    expect(first).toMatchObject({
      kind: 'step',
      artifact: { place: ['tools'], toolCallId: 'a', result: 'a' },
    });
    expect(made).toEqual(['a', 'b']);
    await app.decide(first, { action: 'repeat', by: ada });
    const second = only((await app.run('run')).gates);
    expect(second).toMatchObject({ kind: 'step', artifact: { toolCallId: 'b' } });
    await app.decide(second, { action: 'use', by: ada });
    await answerInterrupts(app);
    expect((await app.run('run')).status).toBe('completed');
    expect(made).toEqual(['a', 'b', 'a']);
  });

  test('ends the run where a human says so', async ({ db }) => {
    const { made, post } = ledger();
    const app = durable(booking(post, [call('a'), call('b')], true), { db });
    const waiting = await app.run('run', { messages: [] });
    await plant(db, (file) => file.exec("DELETE FROM agent_steps WHERE lg_task_id LIKE '%/b'"));
    await plant(db, asBefore);
    for (const gate of waiting.gates) await app.decide(gate, { value: true, by: ada });
    await app.decide(only((await app.run('run')).gates), { action: 'abort', reason: 'too old', by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'cancelled',
      reason: 'aborted by a human: too old',
    });
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

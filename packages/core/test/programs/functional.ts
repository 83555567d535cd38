// The programs of LangGraph's documentation of its functional API, and what they leave out.
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import {
  addMessages,
  entrypoint,
  getPreviousState,
  getStore,
  getWriter,
  InMemoryStore,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';
import type { World } from './World.ts';

const QUICK = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } as const;

/** A task that makes one call, and returns what came of it. */
const calls = (world: World, name: string) => task(name, (what: string) => world.inTask(what));

const essay: Program = {
  input: 'cat',
  answer: () => 'This essay is great.',
  build: (world) => {
    const write = calls(world, 'writeEssay');
    return entrypoint('workflow', async (topic: string) => {
      world.visit('workflow', topic);
      const text = await write(`an essay about ${topic}`);
      const isApproved = interrupt<object, string>({ essay: text, action: 'approve or reject' });
      return { essay: text, isApproved };
    });
  },
};

const simple: Program = {
  input: { number: 7 },
  build: (world) => {
    const isEven = task(
      'isEven',
      async (number: number) => number % 2 === 0 && (await world.effect('a', 'even')),
    );
    const format = task({ name: 'formatMessage' }, async (even: unknown) => ({ even, at: 7 }));
    return entrypoint({ name: 'workflow' }, async ({ number }: { number: number }) => {
      world.visit('workflow', number);
      return format(await isEven(number));
    });
  },
};

const parallel: Program = {
  input: ['first', 'second', 'third'],
  build: (world) => {
    const paragraph = calls(world, 'paragraph');
    return entrypoint('essay', async (topics: readonly string[]) => {
      const paragraphs = await Promise.all(topics.map((topic) => paragraph(topic)));
      return paragraphs.join('\n');
    });
  },
};

/** A value that would be another one each time is a task's. */
const deterministic: Program = {
  input: 3,
  answer: (asked) => Number(asked) > 1,
  build: (world) => {
    let time = 0;
    const now = task('getTime', () => {
      time += 1;
      return time;
    });
    const slow = [calls(world, 'slow 1'), calls(world, 'slow 2')];
    return entrypoint('workflow', async (start: number) => {
      const passed = start - (await now());
      const result = await slow[passed > 1 ? 0 : 1]?.(`${passed}`);
      return { result, isRight: interrupt<number, boolean>(passed) };
    });
  },
};

const retried: Program = {
  input: ['a', 'b'],
  build: (world) => {
    const info = task({ name: 'getInfo', retry: QUICK }, async (of: string) => {
      if (world.isDown(of, 2)) throw new Error('Failure');
      return world.inTask(`info of ${of}`);
    });
    return entrypoint('main', async ([first = '', second = '']: readonly string[]) => [
      await info(first),
      await info(second),
    ]);
  },
};

const resumedAfterError: Program = {
  input: { value: 1 },
  triesAgain: true,
  build: (world) => {
    const info = task('getInfo', () => {
      if (world.isDown('info', 1)) throw new Error('Failure');
      return 'got it';
    });
    const slow = calls(world, 'slowTask');
    return entrypoint('main', async () => {
      const ran = await slow('Ran slow task.');
      return [await info(), ran];
    });
  },
};

const failed: Program = {
  input: 'x',
  build: (world) => {
    const bad = task('bad', async () => {
      await world.inTask('before it fails');
      throw new TypeError('bad');
    });
    const good = calls(world, 'good');
    return entrypoint('main', async () => {
      const first = await good('good');
      return bad().catch(() => `caught after ${first}`);
    });
  },
};

/** A question that is a task of its own. */
const humanInTheLoop: Program = {
  input: 'foo',
  answer: () => 'bar',
  build: (world) => {
    const first = calls(world, 'step1');
    const ask = task('humanFeedback', async (text: string) => {
      const feedback = interrupt<string, string>(`Please provide feedback: ${text}`);
      return `${text} ${feedback}`;
    });
    const third = calls(world, 'step3');
    return entrypoint('graph', async (text: string) => third(await ask(await first(text))));
  },
};

const asksSideBySide: Program = {
  input: 'x',
  answer: (asked) => `yes to ${String(asked)}`,
  build: (world) => {
    const draft = calls(world, 'draft');
    const review = task('review', async (name: string) => {
      const text = await world.inTurn(draft(name));
      const said = interrupt<string, string>(`review ${name}`);
      return [text, said, await world.effect('publish', `${name}: ${said}`)];
    });
    const beside = calls(world, 'beside');
    return entrypoint('main', async () => Promise.all([review('a'), review('b'), beside('beside')]));
  },
};

const asksTwice: Program = {
  input: 'x',
  answer: (asked) => `yes to ${String(asked)}`,
  build: (world) => {
    const draft = calls(world, 'draft');
    const review = task('review', async (name: string) => {
      const said = interrupt<string, string>(await draft(name));
      const text = await draft(`${name} after ${said}`);
      return [text, said, interrupt<string, string>(text), await draft(`last of ${name}`)];
    });
    return entrypoint('main', async (name: string) => {
      const own = interrupt<string, string>('begin?');
      return [own, await review(name), interrupt('end?'), await draft('end')];
    });
  },
};

const CALLS = [
  { id: '1', name: 'weather', args: { city: 'SF' } },
  { id: '2', name: 'weather', args: { city: 'NY' } },
];

interface ToolCall {
  readonly id?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Review {
  readonly action: string;
  readonly args?: ToolCall['args'];
  readonly text?: string;
}

/** The agent of the documentation, whose tool calls a person accepts, changes or comments on. */
const reviewed: Program = {
  input: [{ role: 'user', content: 'weather in SF and NY?' }],
  answer: (asked) =>
    JSON.stringify(asked).includes('SF')
      ? { action: 'update', args: { city: 'LA' } }
      : { action: 'feedback', text: 'not that one' },
  build: (world) => {
    const model = task('callModel', async (messages: readonly BaseMessage[]) => {
      const done = messages.filter((message) => message instanceof ToolMessage).length;
      await world.effect('model', `model after ${done}`);
      return done > 0
        ? new AIMessage({ id: 'end', content: `done after ${done}` })
        : new AIMessage({ id: 'ask', content: '', tool_calls: CALLS });
    });
    const tool = task('callTool', async ({ id = '', args }: ToolCall) => {
      const content = await world.inTask(`weather in ${String(args['city'])}`);
      return new ToolMessage({ id: `of ${id}`, content, tool_call_id: id });
    });
    return entrypoint('agent', async (given: readonly { role: string; content: string }[]) => {
      let messages: BaseMessage[] = [
        ...(getPreviousState<BaseMessage[]>() ?? []),
        ...given.map(({ content }) => new HumanMessage({ id: 'in', content })),
      ];
      let answer = await model(messages);
      while ((answer.tool_calls ?? []).length > 0) {
        const results: BaseMessage[] = [];
        const accepted: ToolCall[] = [];
        for (const call of answer.tool_calls ?? []) {
          const review = interrupt<object, Review>({ call });
          if (review.action === 'update') accepted.push({ ...call, args: review.args ?? {} });
          else
            results.push(
              new ToolMessage({ id: 'no', content: `${review.text}`, tool_call_id: `${call.id}` }),
            );
        }
        const called = await Promise.all(accepted.map((call) => tool(call)));
        messages = addMessages(messages, [answer, ...results, ...called]);
        answer = await model(messages);
      }
      return entrypoint.final({ value: answer, save: addMessages(messages, [answer]) });
    });
  },
};

const previous: Program = {
  input: 1,
  turns: [2, 0, 5],
  build: (world) => {
    const add = calls(world, 'add');
    return entrypoint('accumulate', async (number: number) => {
      const before = getPreviousState<{ sum: number }>()?.sum ?? 0;
      const text = await add(`${before} + ${number}`);
      return entrypoint.final({ value: { text, before }, save: { sum: before + number } });
    });
  },
};

/** What is returned is what is saved. */
const chat: Program = {
  input: { content: 'hi! I am Bob' },
  turns: [{ content: 'what is my name?' }],
  answer: (asked) => `answer to ${String(asked)}`,
  build: (world) => {
    const model = task('callModel', async (messages: readonly BaseMessage[]) => {
      const content = await world.effect('model', `reply to ${messages.length}`);
      return new AIMessage({ id: `reply ${messages.length}`, content });
    });
    return entrypoint('chat', async ({ content }: { content: string }) => {
      const messages = [
        ...(getPreviousState<BaseMessage[]>() ?? []),
        new HumanMessage({ id: content, content: `${content} ${interrupt<string, string>(content)}` }),
      ];
      return addMessages(messages, [await model(messages)]);
    });
  },
};

const remembers: Program = {
  input: 'a',
  turns: ['b'],
  build: (world) => {
    const remember = task('remember', async (name: string) => {
      await getStore()?.put(['names'], name, { name });
      const known = await getStore()?.get(['names'], name);
      return [await world.inTask(name), known?.value];
    });
    return entrypoint(
      { name: 'main', store: new InMemoryStore() },
      async (name: string, { store }: LangGraphRunnableConfig) => [await remember(name), store !== undefined],
    );
  },
};

const nested: Program = {
  input: 2,
  answer: (asked) => Number(asked) * 2,
  build: (world) => {
    const leaf = calls(world, 'leaf');
    const branch = task('branch', async (name: string) => {
      const both = await Promise.all([leaf(`${name}.1`), leaf(`${name}.2`)]);
      return [...both, await leaf(`${name}.3`), await world.effect('leaf', `${name}.4`)];
    });
    return entrypoint('tree', async (size: number) => {
      const first = await Promise.all(Array.from({ length: size }, (_, at) => branch(`${at}`)));
      const more = interrupt<number, number>(size);
      return { first, more, last: await leaf('0.1 again') };
    });
  },
};

/** A graph, and another entrypoint, called by an entrypoint and by a task; tasks in nodes of a graph. */
const composed: Program = {
  input: 'x',
  answer: (asked) => `ok ${String(asked)}`,
  build: (world) => {
    const call = calls(world, 'call');
    const inner = entrypoint('inner', async (name: string) => {
      const before = await call(`${name}, inside`);
      return [before, interrupt<string, string>(`go on with ${name}?`), await call(`${name}, after`)];
    });
    const graph = new StateGraph(Log)
      .addNode('node', async ({ last }) => ({
        log: await Promise.all([
          call(`${String(last)} in a node`),
          world.effect('own', `own of ${String(last)}`),
        ]),
      }))
      .addNode('second', async ({ last }) => ({ log: [await call(`second of ${String(last)}`)] }))
      .addEdge(START, 'node')
      .addEdge('node', 'second')
      .compile();
    const withGraph = task('withGraph', async (last: string) => (await graph.invoke({ last, log: [] })).log);
    const withInner = task('withInner', async (name: string) => inner.invoke(name));
    return entrypoint('outer', async (name: string) => ({
      graph: (await graph.invoke({ last: name, log: [] })).log,
      inTask: await withGraph(`${name} of a task`),
      inner: await inner.invoke(name),
      innerInTask: await withInner(`${name} of a task`),
    }));
  },
};

/** Tasks of a StateGraph: in a node, in one that is tried again, in one of a subgraph. */
const inNodes: Program = {
  input: {},
  answer: () => 'yes',
  build: (world) => {
    const call = calls(world, 'call');
    const sub = new StateGraph(Log)
      .addNode('inner', async () => ({
        log: [await call('in a subgraph'), interrupt('sure?'), await call('after')],
      }))
      .addEdge(START, 'inner')
      .compile();
    return new StateGraph(Log)
      .addNode('plain', async () => ({ log: await Promise.all([call('a'), call('b')]) }))
      .addNode(
        'flaky',
        async () => {
          if (world.isDown('service', 1)) throw new Error('down');
          return { log: [await call('after a retry')] };
        },
        { retryPolicy: QUICK },
      )
      .addNode('sub', sub)
      .addEdge(START, 'plain')
      .addEdge('plain', 'flaky')
      .addEdge('flaky', 'sub');
  },
};

const streams: Program = {
  input: { x: 5 },
  build: (world) => {
    const addOne = task('addOne', async (x: number) => {
      getWriter()?.({ task: x });
      await world.effect('a', `add to ${x}`);
      getWriter()?.('added');
      return x + 1;
    });
    const double = task('addTwo', async (x: number) => {
      const sum = (await addOne(x)) + (await addOne(x + 1));
      getWriter()?.([sum]);
      return { sum };
    });
    return entrypoint('main', async ({ x }: { x: number }, config: LangGraphRunnableConfig) => {
      config.writer?.('hello');
      const one = await addOne(x);
      config.writer?.({ one });
      return [one, await double(one)];
    });
  },
};

const returns = (value: unknown): Program => ({
  input: value,
  build: () => {
    const same = task('same', async (given: unknown) => given);
    return entrypoint('returns', async (given: unknown) => same(given));
  },
});

export const functional: Programs = {
  'an essay with a review': essay,
  'a simple workflow': simple,
  'tasks in parallel': parallel,
  'a value that changes, in a task': deterministic,
  'a task with retries': retried,
  'resumed after an error': resumedAfterError,
  'a task that fails': failed,
  'a question in a task': humanInTheLoop,
  'questions in tasks side by side': asksSideBySide,
  'two questions in a task': asksTwice,
  'tool calls that are reviewed': reviewed,
  'previous over turns': previous,
  'a chat with its messages': chat,
  'long-term memory': remembers,
  'tasks in tasks': nested,
  'graphs and entrypoints inside': composed,
  'tasks in nodes of a graph': inNodes,
  'tells what it does': streams,
  'returns a number': returns(0),
  'returns a text': returns(''),
  'returns no': returns(false),
  'returns an object like an update': returns({ __metadata__: { entropyScore: 2 }, pendingSuspension: 1 }),
};

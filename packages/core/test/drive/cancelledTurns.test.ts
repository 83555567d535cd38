import { convertPromptToAnthropic } from '@langchain/anthropic';
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatPromptValue } from '@langchain/core/prompt_values';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  MemorySaver,
  MessagesAnnotation,
  MessagesValue,
  MessagesZodState,
  Send,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import { convertMessagesToCompletionsMessageParams } from '@langchain/openai';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { step } from '../../src/engine/node/step.ts';
import { waitFor } from '../../src/engine/node/waitFor.ts';
import { DyingFile } from '../support/DyingFile.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { only } from '../support/only.ts';

/** Processes that die, each at another write. */
const DEATHS = howMany('DEVS_CANCEL_DEATHS', 12);

const ada = { kind: 'human', id: 'ada' } as const;

const calls = (...names: readonly string[]) =>
  names.map((name, at) => ({ id: `call-${at}`, name, args: {}, type: 'tool_call' as const }));

/** The rule of OpenAI: right after what a model asks for come answers to all of it, and there are no others. */
function refusalOfOpenAI(messages: readonly BaseMessage[]): string | null {
  const params = convertMessagesToCompletionsMessageParams({ messages: [...messages], model: 'gpt-5' });
  let open = new Set<string>();
  for (const param of params) {
    if (param.role === 'tool') {
      if (!open.delete(param.tool_call_id)) return `no call ${param.tool_call_id} before its answer`;
      continue;
    }
    if (open.size > 0) return `no answer to ${[...open].join()}`;
    open = new Set(param.role === 'assistant' ? param.tool_calls?.map(({ id }) => id) : []);
  }
  return open.size > 0 ? `no answer to ${[...open].join()}` : null;
}

/** The rule of Anthropic: the message after one with `tool_use` begins with a `tool_result` for each. */
function refusalOfAnthropic(messages: readonly BaseMessage[]): string | null {
  const { messages: params } = convertPromptToAnthropic(new ChatPromptValue([...messages]));
  const idsIn = (at: number, type: 'tool_use' | 'tool_result'): readonly string[] => {
    const content = params[at]?.content ?? [];
    return (typeof content === 'string' ? [] : content).flatMap((block) => {
      if (block.type === 'tool_use' && type === block.type) return [block.id];
      return block.type === 'tool_result' && type === block.type ? [block.tool_use_id] : [];
    });
  };
  for (const at of params.keys()) {
    const [asked, answered] = [idsIn(at, 'tool_use'), idsIn(at + 1, 'tool_result')];
    if (asked.toSorted().join() !== answered.toSorted().join())
      return `asked for ${asked.join()}, answered ${answered.join()}`;
  }
  return null;
}

const refusals = (messages: readonly BaseMessage[]) => [
  refusalOfOpenAI(messages),
  refusalOfAnthropic(messages),
];

/** What was said: a tool's answer with its call. */
const said = (messages: readonly BaseMessage[] | undefined) =>
  messages?.map((message) =>
    message instanceof ToolMessage ? `${message.tool_call_id}: ${message.text}` : message.text,
  );

const cancelled = (call: string, name: string) =>
  `${call}: The call of tool "${name}" was cancelled. Its result is not known.`;

/** A model that asks for tools once, and then says how many messages it was given; `seen` are those. */
function modelOf(asked: readonly AIMessage[]) {
  const seen: BaseMessage[][] = [];
  let turns = 0;
  const answer = ({ messages }: { messages: BaseMessage[] }) => {
    seen.push(messages);
    const message = asked[turns] ?? new AIMessage(`heard ${messages.length}`);
    turns += 1;
    return { messages: [message] };
  };
  return { seen, answer };
}

type Messages = typeof MessagesAnnotation;

/** A model, and tools that run after it; `schema` is the state, in any of LangGraph's words. */
function agent(
  tools: (state: { messages: BaseMessage[] }) => Promise<{ messages: BaseMessage[] }>,
  asked = [new AIMessage({ id: 'ai-1', content: '', tool_calls: calls('look') })],
  schema: unknown = MessagesAnnotation,
) {
  const model = modelOf(asked);
  const graph = new StateGraph(schema as Messages)
    .addNode('model', model.answer)
    .addNode('tools', tools)
    .addEdge(START, 'model')
    .addConditionalEdges(
      'model',
      ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : '__end__'),
      ['tools', '__end__'],
    )
    .addEdge('tools', 'model');
  return { graph, seen: model.seen };
}

const hangs = async () => {
  await waitFor('never');
  return { messages: [] };
};

const hello = { messages: [new HumanMessage('hello')] };
const again = { messages: [new HumanMessage('again')] };

describe('open tool calls of a cancelled turn', () => {
  test.for([
    ['MessagesAnnotation', MessagesAnnotation],
    ['MessagesZodState', MessagesZodState],
    ['MessagesValue', new StateSchema({ messages: MessagesValue })],
  ] as const)('are answered in the state of %s, with the end of the turn', async ([, schema], { db }) => {
    const { graph, seen } = agent(hangs, undefined, schema);
    const app = durable(graph, { db });
    expect(await app.run('c', hello, { turn: '1' })).toMatchObject({ status: 'waiting' });
    expect(refusals((await app.values('c'))?.messages ?? [])).not.toEqual([null, null]);
    await app.cancel('c');
    const { messages = [] } = (await app.values('c')) ?? {};
    expect(said(messages)).toEqual(['hello', '', cancelled('call-0', 'look')]);
    expect(messages.at(-1)).toMatchObject({ status: 'error', name: 'look', id: expect.any(String) });

    expect(await app.run('c', again, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(said(seen.at(-1))).toEqual(['hello', '', cancelled('call-0', 'look'), 'again']);
    expect(refusals(seen.at(-1) ?? [])).toEqual([null, null]);
    expect(said((await app.values('c'))?.messages)).toHaveLength(5);
    const past = await app.run('c', hello, { turn: '1' });
    expect(said(past.values?.messages)).toEqual(['hello', '', cancelled('call-0', 'look')]);
  });

  test('are left to providers that refuse them by LangGraph alone', async () => {
    const { graph, seen } = agent(() => Promise.reject(new Error('aborted')));
    const plain = graph.compile({ checkpointer: new MemorySaver() });
    const at = { configurable: { thread_id: 'c' } };
    await plain.invoke(hello, at).catch(() => undefined);
    await plain.invoke(again, at);
    expect(refusals(seen.at(-1) ?? [])).toEqual(['no answer to call-0', expect.stringContaining('call-0')]);
  });

  test('are answered where a driver hears of the cancel, and where a rejection ends the turn', async ({
    db,
    dbPath,
  }) => {
    let other: ReturnType<typeof appOf> | undefined;
    const appOf = (file: typeof db) => {
      const { graph, seen } = agent(async () => {
        if (other === undefined) return { messages: [] };
        await step('one', () => other?.cancel('driven'));
        // Until the cancel is heard.
        await step(
          'two',
          ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
        );
        return { messages: [] };
      });
      return Object.assign(durable(graph, { db: file, gates: { tools: (state) => state.messages.length } }), {
        seen,
      });
    };
    const app = appOf(db);
    const gate = only((await app.run('rejected', hello, { turn: '1' })).gates);
    await app.decide(gate, { approved: false, feedback: 'no', by: ada });
    expect(await app.run('rejected')).toMatchObject({ status: 'cancelled' });
    expect(said((await app.values('rejected'))?.messages)?.at(-1)).toBe(cancelled('call-0', 'look'));

    const second = createDatabase({ dbPath });
    other = appOf(second);
    const next = appOf(db);
    await next.decide(only((await next.run('driven', hello, { turn: '1' })).gates), {
      approved: true,
      by: ada,
    });
    const { status, values } = await next.run('driven');
    expect([status, said(values?.messages)?.at(-1)]).toEqual(['cancelled', cancelled('call-0', 'look')]);
    await other.close();
    second.close();
  });

  test('stay open after a pause, and where a turn has failed or was completed', async ({ db }) => {
    const app = durable(agent(hangs).graph, { db });
    await app.run('paused', hello, { turn: '1' });
    await app.pause('paused');
    await app.run('paused');
    expect(said((await app.values('paused'))?.messages)).toEqual(['hello', '']);

    const failing = agent(() => Promise.reject(new Error('broken')));
    const failed = durable(failing.graph, { db });
    await failed.run('failed', hello, { turn: '1', throwOnFailure: false });
    await failed.run('failed', again, { turn: '2', throwOnFailure: false });
    expect(said(failing.seen.at(-1))).toEqual(['hello', '', 'again']);

    const asking = modelOf([new AIMessage({ content: '', tool_calls: calls('client') })]);
    const ends = durable(new StateGraph(MessagesAnnotation).addNode('m', asking.answer).addEdge(START, 'm'), {
      db,
    });
    await ends.run('ends', hello, { turn: '1' });
    const answer = new ToolMessage({ content: 'by the client', tool_call_id: 'call-0' });
    await ends.run('ends', { messages: [answer] }, { turn: '2' });
    expect(said(asking.seen.at(-1))).toEqual(['hello', '', 'call-0: by the client']);
  });

  test('whose ids are those of calls before are answered behind the message that asks', async ({ db }) => {
    const asked = [1, 2].map(
      (at) => new AIMessage({ id: `ai-${at}`, content: '', tool_calls: calls('look') }),
    );
    const { graph, seen } = agent(async ({ messages }) => {
      if (messages.length > 2) return hangs();
      return { messages: [new ToolMessage({ content: 'found', tool_call_id: 'call-0' })] };
    }, asked);
    const app = durable(graph, { db });
    await app.run('c', hello, { turn: '1' });
    await app.cancel('c');
    await app.run('c', again, { turn: '2' });
    expect(said(seen.at(-1))).toEqual([
      'hello',
      '',
      'call-0: found',
      '',
      cancelled('call-0', 'look'),
      'again',
    ]);
    expect(refusals(seen.at(-1) ?? [])).toEqual([null, null]);
  });
});

describe('parallel calls of a cancelled turn', () => {
  const asked = new AIMessage({ id: 'ai-1', content: '', tool_calls: calls('fast', 'slow', 'none') });

  test('of which some have answered keep those answers, once', async ({ db }) => {
    const model = modelOf([asked]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', model.answer)
      .addNode('call', async (call: unknown) => {
        const { id = '', name } = call as AIMessage['tool_calls'] extends readonly (infer C)[] | undefined
          ? C
          : never;
        if (name !== 'fast') return hangs();
        return { messages: [new ToolMessage({ content: 'done', name, tool_call_id: id })] };
      })
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) =>
        ((messages.at(-1) as AIMessage).tool_calls ?? []).map((call) => new Send('call', call)),
      );
    const app = durable(graph, { db });
    expect(await app.run('c', hello, { turn: '1' })).toMatchObject({ status: 'waiting' });
    await app.cancel('c');
    const answers = ['call-0: done', cancelled('call-1', 'slow'), cancelled('call-2', 'none')];
    expect(
      said((await app.values('c'))?.messages)
        ?.slice(2)
        .toSorted(),
    ).toEqual(answers);
    await app.run('c', again, { turn: '2' });
    expect(said(model.seen.at(-1))?.slice(2, 5).toSorted()).toEqual(answers);
    expect(refusals(model.seen.at(-1) ?? [])).toEqual([null, null]);
  });

  test('whose results are recorded in a task that has not ended keep those results', async ({ db }) => {
    const { graph, seen } = agent(async () => {
      await step('fast', () => new ToolMessage({ content: 'done', name: 'fast', tool_call_id: 'call-0' }));
      return hangs();
    }, [asked]);
    const app = durable(graph, { db });
    await app.run('c', hello, { turn: '1' });
    await app.cancel('c');
    const answers = ['call-0: done', cancelled('call-1', 'slow'), cancelled('call-2', 'none')];
    expect(said((await app.values('c'))?.messages)?.slice(2)).toEqual(answers);
    await app.run('c', again, { turn: '2' });
    expect(said(seen.at(-1))).toEqual(['hello', '', ...answers, 'again']);
    expect(refusals(seen.at(-1) ?? [])).toEqual([null, null]);
  });
});

describe('a cancel by a process without the graph', () => {
  test('ends the turn; its calls are answered before the input of the next', async ({ db }) => {
    const { graph, seen } = agent(hangs);
    const app = durable(graph, { db });
    await app.run('c', hello, { turn: '1' });
    const stranger = durable(
      new StateGraph(MessagesAnnotation).addNode('x', () => ({})).addEdge(START, 'x'),
      { db },
    );
    await stranger.cancel('c');
    expect(said((await app.values('c'))?.messages)).toEqual(['hello', '']);
    await app.run('c', again, { turn: '2' });
    expect(said(seen.at(-1))).toEqual(['hello', '', cancelled('call-0', 'look'), 'again']);
    expect(refusals(seen.at(-1) ?? [])).toEqual([null, null]);
  });
});

describe('messages of a graph inside', () => {
  test('that keeps its state over turns are answered there', async ({ db }) => {
    const { graph, seen } = agent(hangs);
    const State = Annotation.Root({ messages: Annotation<BaseMessage[]>(), rounds: Annotation<number>() });
    const outer = new StateGraph(State)
      .addNode('agent', graph.compile({ checkpointer: true }))
      .addEdge(START, 'agent');
    const app = durable(outer, { db });
    await app.run('c', hello, { turn: '1' });
    await app.cancel('c');
    await app.run('c', again, { turn: '2' });
    expect(said(seen.at(-1))).toEqual(['hello', '', cancelled('call-0', 'look'), 'again']);
    expect(refusals(seen.at(-1) ?? [])).toEqual([null, null]);
  });

  test("of LangChain's createAgent pass both providers", async ({ db }) => {
    const look = tool(
      async () => {
        await waitFor('never');
        return 'found';
      },
      { name: 'look', description: 'looks', schema: z.object({}) },
    );
    const seen: BaseMessage[][] = [];
    const model = fakeModel()
      .respond(new AIMessage({ content: '', tool_calls: calls('look', 'look') }))
      .respond((messages) => {
        seen.push([...messages]);
        return new AIMessage('well');
      });
    const app = durable(createAgent({ model, tools: [look] }).graph, { db });
    expect(await app.run('c', hello, { turn: '1' })).toMatchObject({ status: 'waiting' });
    await app.cancel('c');
    expect(await app.run('c', again, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(said(only(seen))).toEqual([
      ...['hello', '', cancelled('call-0', 'look'), cancelled('call-1', 'look'), 'again'],
    ]);
    expect(refusals(only(seen))).toEqual([null, null]);
  });
});

describe('a process that dies at any write', () => {
  // Late writes share a commit, so fewer states can be left behind.
  test.for([
    ['sync', 3],
    ['async', 2],
  ] as const)(
    '%s: of a cancel, or of the turn that follows, leaves a turn with its answers or one that goes on',
    {
      timeout: longer(60_000, DEATHS / 12),
    },
    async ([durability, states], { db }) => {
      const seen: (readonly string[] | undefined)[] = [];
      const writes = async (id: string, death: ConstructorParameters<typeof DyingFile>[1]) => {
        const app = durable(agent(hangs).graph, { db, durability });
        await app.run(id, hello, { turn: '1' });
        const file = createDatabase({ dbPath: db.name });
        const dying = new DyingFile(file, death);
        const victim = durable(agent(hangs, []).graph, { db: file, durability });
        await victim
          .cancel(id)
          .then(() => victim.run(id, again, { turn: '2' }))
          .catch(() => undefined);
        if (file.open) file.close();
        internalsOf(app).store.runs.evict(id);
        return dying.writes;
      };
      const total = await writes('whole', null);
      const places = Math.min(DEATHS, total);
      for (let place = 0; place < places; place += 1) {
        const write = 1 + Math.floor((place * total) / places);
        const id = `at-${write}`;
        await writes(id, { write, side: place % 2 === 0 ? 'before' : 'after' });
        const app = durable(agent(hangs, []).graph, { db });
        const { status } = await app.result(id);
        const messages = said((await app.values(id))?.messages);
        if (status === 'cancelled')
          expect([id, messages]).toEqual([id, ['hello', '', cancelled('call-0', 'look')]]);
        if (status === 'waiting') expect([id, messages]).toEqual([id, ['hello', '']]);
        if (status === 'waiting') await app.cancel(id);
        await app.run(id, again, { turn: '2' });
        const after = (await app.values(id))?.messages ?? [];
        expect([id, said(after)?.slice(0, 4)]).toEqual([
          id,
          ['hello', '', cancelled('call-0', 'look'), 'again'],
        ]);
        expect(refusals(after)).toEqual([null, null]);
        seen.push(messages);
      }
      expect(new Set(seen.map(String)).size).toBeGreaterThanOrEqual(states);
    },
  );
});

import { type AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Command, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  modelFallbackMiddleware,
  modelRetryMiddleware,
  toolRetryMiddleware,
  toolStrategy,
} from 'langchain';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';
import { recordCalls } from '../recordCalls.ts';
import { recordedModel } from '../recordedModel.ts';
import { recordedTools } from '../recordedTools.ts';
import { type Said, ScriptedModel } from './agent.ts';

const INPUT = { messages: [new HumanMessage({ id: 'question', content: 'Go.' })] };
const schema = z.object({ q: z.string() });
/** A tool that writes down its calls. */
const searching = (calls: string[]) =>
  tool(
    ({ q }: { q: string }) => {
      calls.push(`search ${q}`);
      return `found ${q}`;
    },
    { name: 'search', schema },
  );

const LOOK: Said = { text: 'Look.', calls: [{ id: 'a', name: 'search', args: { q: 'x' } }] };

/** The types of LangChain's own middlewares are lost in the installed versions' zod. */
const among = (...middlewares: readonly unknown[]) => middlewares as AgentMiddleware[];

/** Fails its node once, after all the work of it was done: it runs again from its first line. */
function failingOnce(hook: 'wrapModelCall' | 'wrapToolCall', failures = 1) {
  let left = failures;
  const around = async (request: never, handler: (request: never) => unknown) => {
    const result = await handler(request);
    left -= 1;
    if (left >= 0) throw new Error('the process is gone');
    return result;
  };
  return createMiddleware({ name: `failing ${hook}`, [hook]: around } as never);
}

const texts = (values: unknown): readonly string[] =>
  (values as { readonly messages: readonly { readonly text: string }[] }).messages.map(({ text }) => text);

describe('recordCalls() among other middlewares', () => {
  test('a node that runs again finds the call of the model, and the call of the tool', async ({ db }) => {
    const calls: string[] = [];
    const search = searching(calls);
    const agent = createAgent({
      model: new ScriptedModel([LOOK], (index) => calls.push(`model ${index}`)),
      tools: [search],
      middleware: [failingOnce('wrapModelCall'), failingOnce('wrapToolCall'), recordCalls()],
    });
    const app = durable(agent, { db });
    expect(await app.run('run', INPUT, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    const { status, values } = await app.run('run');
    expect([status, texts(values)]).toEqual(['completed', ['Go.', 'Look.', 'found x', 'done']]);
    expect(calls).toEqual(['model 0', 'search x', 'model 1']);
  });

  test('a retry and a fallback around it are paid once: what succeeded is found', async ({ db }) => {
    const calls: string[] = [];
    const down = new ScriptedModel([new Error('overloaded')], () => calls.push('down'));
    const spare = new ScriptedModel([{ text: 'spare' }], () => calls.push('spare'));
    const agent = createAgent({
      model: down,
      tools: [],
      middleware: among(
        failingOnce('wrapModelCall'),
        modelFallbackMiddleware(spare),
        modelRetryMiddleware({ maxRetries: 1, initialDelayMs: 1, onFailure: 'error' }),
        recordCalls(),
      ),
    });
    const app = durable(agent, { db });
    expect(await app.run('run', INPUT, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    expect(calls).toEqual(['down', 'down', 'spare']);
    expect(texts((await app.run('run')).values)).toEqual(['Go.', 'spare']);
    expect(calls).toEqual(['down', 'down', 'spare']);
  });

  test('a retry of tools listed after it works inside of the recorded call', async ({ db }) => {
    let tries = 0;
    const flaky = tool(
      () => {
        tries += 1;
        if (tries < 3) throw new Error('busy');
        return 'at last';
      },
      { name: 'search', schema },
    );
    const agent = createAgent({
      model: new ScriptedModel([LOOK]),
      tools: [flaky],
      middleware: among(recordCalls(), toolRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 })),
    });
    const { values } = await durable(agent, { db }).run('run', INPUT);
    expect([texts(values)[2], tries]).toEqual(['at last', 3]);
  });

  test('a retry of tools listed before it gets the error where it is wanted', async ({ db }) => {
    let tries = 0;
    const flaky = tool(
      () => {
        tries += 1;
        if (tries < 2) throw new Error('busy');
        return 'at last';
      },
      { name: 'search', schema },
    );
    const agent = createAgent({
      model: new ScriptedModel([LOOK]),
      tools: [flaky],
      middleware: among(
        toolRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 }),
        recordCalls({ handleToolErrors: false }),
      ),
    });
    const { values } = await durable(agent, { db }).run('run', INPUT);
    expect([texts(values)[2], tries]).toEqual(['at last', 2]);
  });

  test('structured output that was wrong is asked for again, as without it', async ({ db }) => {
    const script: Said[] = [
      { calls: [{ id: 'a', name: 'extract-1', args: { n: 'none' } }] },
      { calls: [{ id: 'b', name: 'extract-1', args: { n: 7 } }] },
    ];
    const made = (middleware: readonly unknown[]) => {
      const format = toolStrategy(z.object({ n: z.number() }));
      const named = script.map(({ calls = [] }) => ({
        calls: calls.map((call) => ({ ...call, name: format[0]?.name ?? '' })),
      }));
      return createAgent({
        model: new ScriptedModel(named),
        tools: [],
        responseFormat: format,
        middleware: middleware as AgentMiddleware[],
      });
    };
    const expected = await made([]).invoke(INPUT as never);
    const again = made([failingOnce('wrapModelCall'), recordCalls()]);
    const app = durable(again, { db });
    expect(await app.run('run', INPUT, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    const { status, values } = await app.run('run');
    expect(status).toBe('completed');
    const unnumbered = (from: unknown) => texts(from).map((text) => text.replace(/extract-\d+/, 'extract'));
    expect(unnumbered(values)).toEqual(unnumbered(expected));
  });

  test('a tool that returns a command, and one that asks a subagent', async ({ db }) => {
    const calls: string[] = [];
    const inner = createAgent({
      model: new ScriptedModel([LOOK, { text: 'inner answer' }], (index) => calls.push(`inner ${index}`)),
      tools: [searching(calls)],
      middleware: [recordCalls()],
    });
    const ask = tool(
      async ({ q }: { q: string }) => {
        const { messages } = await inner.invoke({ messages: [new HumanMessage(q)] });
        return messages.at(-1)?.text ?? '';
      },
      { name: 'ask', schema },
    );
    const steer = tool(
      ({ q }: { q: string }, { toolCallId }: { toolCallId: string }) =>
        new Command({
          update: { messages: [{ type: 'tool', tool_call_id: toolCallId, content: `steered ${q}` }] },
        }),
      { name: 'steer', schema },
    );
    const outer = createAgent({
      model: new ScriptedModel([
        { calls: [{ id: 'a', name: 'ask', args: { q: 'why' } }] },
        { calls: [{ id: 'b', name: 'steer', args: { q: 'left' } }] },
      ]),
      tools: [ask, steer],
      middleware: [failingOnce('wrapToolCall', 2), recordCalls()],
    });
    const app = durable(outer, { db });
    await app.run('run', INPUT, { throwOnFailure: false });
    await app.run('run', undefined, { throwOnFailure: false });
    const { status, values } = await app.run('run');
    expect([status, texts(values)]).toEqual([
      'completed',
      ['Go.', '', 'inner answer', '', 'steered left', 'done'],
    ]);
    expect(calls).toEqual(['inner 0', 'search x', 'inner 1']);
  });

  test('a model that is recorded already is asked once, and its answers keep their order', async ({ db }) => {
    const calls: string[] = [];
    const model = recordedModel(new ScriptedModel([LOOK], (index) => calls.push(`model ${index}`)));
    /** Asks twice in one execution, as one that sums up a long talk does. */
    const twice = createMiddleware({
      name: 'twice',
      wrapModelCall: async (request, handler) => {
        const first = await handler(request);
        return await handler({ ...request, messages: [...request.messages, first as AIMessage] });
      },
    });
    const agent = createAgent({
      model: recordedModel(model),
      tools: [searching(calls)],
      middleware: [failingOnce('wrapModelCall'), twice, recordCalls()],
    });
    const app = durable(agent, { db });
    expect(await app.run('run', INPUT, { throwOnFailure: false })).toMatchObject({ status: 'failed' });
    expect(texts((await app.run('run')).values)).toEqual(['Go.', 'done']);
    expect(calls).toEqual(['model 0', 'model 1']);
    const names = db.prepare('SELECT name FROM agent_steps ORDER BY name').pluck().all();
    expect(names).toEqual(['model', 'model 2']);
  });

  test('takes no option and no gate that is none', () => {
    expect(() => recordCalls({ gate: {} } as never)).toThrow(
      'recordCalls(): there is no option `gate`. Did you mean `gates`?',
    );
    expect(() => recordCalls({ gates: { mail: { shows: () => 1 } } as never })).toThrow(
      'Gate of tool "mail": there is no option `shows`. Did you mean `show`?',
    );
    expect(() => recordCalls({ gates: { mail: 'yes' } as never })).toThrow(TypeError);
  });
});

describe('a graph whose tools run in ToolNode', () => {
  test('a recorded call in a recorded call is not found in the place of the next one', async ({ db }) => {
    const calls: string[] = [];
    const inner = recordedModel(new ScriptedModel([{ text: 'inner' }], () => calls.push('inner')));
    class Outer extends ScriptedModel {
      override async _generate(messages: BaseMessage[]) {
        await inner.invoke(messages.slice(0, 1));
        return super._generate(messages);
      }
    }
    const outer = recordedModel(
      new Outer([{ text: 'first' }, { text: 'second' }], (index) => calls.push(`outer ${index}`)),
    );
    let failures = 1;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('twice', async ({ messages }) => {
        const first = await outer.invoke(messages);
        const second = await outer.invoke([...messages, first]);
        failures -= 1;
        if (failures >= 0) throw new Error('the process is gone');
        return { messages: [first, second] };
      })
      .addEdge(START, 'twice');
    const app = durable(graph, { db });
    await app.run('run', INPUT, { throwOnFailure: false });
    expect(texts((await app.run('run')).values)).toEqual(['Go.', 'first', 'second']);
    expect(calls).toEqual(['inner', 'outer 0', 'inner', 'outer 1']);
    const names = db.prepare('SELECT name FROM agent_steps ORDER BY name').pluck().all();
    expect(names).toEqual(['model', 'model 2', 'model 2/model', 'model/model']);
  });

  test('records with recordedModel() and recordedTools()', async ({ db }) => {
    const calls: string[] = [];
    const search = searching(calls);
    const model = recordedModel(new ScriptedModel([LOOK], (index) => calls.push(`model ${index}`)));
    const tools = new ToolNode(recordedTools([search]));
    let failures = 2;
    const dying = (result: object) => {
      failures -= 1;
      if (failures >= 0) throw new Error('the process is gone');
      return result;
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', async ({ messages }) => dying({ messages: [await model.invoke(messages)] }))
      .addNode('tools', async (state) => dying((await tools.invoke(state)) as { messages: ToolMessage[] }))
      .addEdge(START, 'model')
      .addConditionalEdges('model', ({ messages }) =>
        (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : '__end__',
      )
      .addEdge('tools', 'model');
    const app = durable(graph, { db });
    await app.run('run', INPUT, { throwOnFailure: false });
    await app.run('run', undefined, { throwOnFailure: false });
    const { status, values } = await app.run('run');
    expect([status, texts(values)]).toEqual(['completed', ['Go.', 'Look.', 'found x', 'done']]);
    expect(calls).toEqual(['model 0', 'search x', 'model 1']);
  });

  test('so does createReactAgent, in one line each', async ({ db }) => {
    const search = tool(({ q }) => step('find', () => `found ${q}`), { name: 'search', schema });
    const llm = recordedModel(new ScriptedModel([LOOK]));
    const agent = createReactAgent({ llm, tools: recordedTools([search]) });
    const { status, values } = await durable(agent, { db }).run('run', INPUT);
    expect([status, texts(values)]).toEqual(['completed', ['Go.', 'Look.', 'found x', 'done']]);
    const names = db.prepare('SELECT name FROM agent_steps ORDER BY name').pluck().all();
    expect(names).toEqual(['find', 'model', 'model', 'search a']);
  });
});

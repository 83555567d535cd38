import { AIMessage } from '@langchain/core/messages';
import {
  entrypoint,
  interrupt as langGraphInterrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { describe, expect } from 'vitest';
import { ada, OwnState } from '../../src/engine/__tests__/ownGraph.ts';
import type { DurableApp } from '../../src/engine/app/DurableApp.ts';
import { interrupt } from '../../src/engine/node/interrupt.ts';
import { step } from '../../src/engine/node/step.ts';
import { toolOf } from '../programs/agentTools.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

const ANSWERS = 4;
const questions = Array.from({ length: ANSWERS }, (_, at) => `question ${at}`);

type Ask = typeof interrupt;

/** Asks in a loop, and says that it has begun. */
const askAll = (ask: Ask, begins: () => void): readonly string[] => {
  begins();
  return questions.map((question) => ask<string, string>(question));
};

const inNode = (ask: Ask, begins: () => void) =>
  new StateGraph(OwnState).addNode('asks', () => ({ log: askAll(ask, begins) })).addEdge(START, 'asks');

const inSubgraph = (ask: Ask, begins: () => void) =>
  new StateGraph(OwnState).addNode('outer', inNode(ask, begins).compile()).addEdge(START, 'outer');

const inTask = (ask: Ask, begins: () => void) => {
  const asks = task('asks', async () => askAll(ask, begins));
  return entrypoint('work', async () => ({ log: await asks() }));
};

const inTool = (ask: Ask, begins: () => void) => {
  const asks = toolOf('asks', async () => askAll(ask, begins).join());
  return new StateGraph(MessagesAnnotation).addNode('tools', new ToolNode([asks])).addEdge(START, 'tools');
};

const PLACES = {
  'a node': [inNode, {}],
  'a subgraph': [inSubgraph, {}],
  'a task': [inTask, {}],
  'a tool': [
    inTool,
    {
      messages: [
        new AIMessage({
          content: '',
          tool_calls: [{ name: 'asks', args: { what: 'it' }, id: 'call', type: 'tool_call' }],
        }),
      ],
    },
  ],
} as const;

/** Answers one question after the other; returns what the run came to, as text. */
async function answerAll(
  app: Pick<DurableApp<never, object, unknown, unknown>, 'run' | 'decide'>,
  input: unknown,
): Promise<string> {
  let { gates, ...result } = await app.run('run', input as never);
  for (const question of questions) {
    const gate = only(gates);
    expect(gate).toMatchObject({ kind: 'interrupt', artifact: question });
    await app.decide(gate, { value: `answer to ${question}`, by: ada });
    ({ gates, ...result } = await app.run('run'));
  }
  expect(result.status).toBe('completed');
  return JSON.stringify(result.values);
}

describe.for(Object.entries(PLACES))('%s that asks in a loop', ([_place, [build, input]]) => {
  test('runs once for each answer', async ({ db }) => {
    let runs = 0;
    const graph = build(interrupt, () => {
      runs += 1;
    });
    const values = await answerAll(durable(graph as never, { db }), input);
    for (const question of questions) expect(values).toContain(`answer to ${question}`);
    expect(runs).toBe(ANSWERS + 1);
  });

  test("with LangGraph's interrupt() it runs more often, to the same end", async ({ db }) => {
    let runs = 0;
    const graph = build(langGraphInterrupt, () => {
      runs += 1;
    });
    const values = await answerAll(durable(graph as never, { db }), input);
    for (const question of questions) expect(values).toContain(`answer to ${question}`);
    expect(runs).toBeGreaterThanOrEqual(2 * ANSWERS + 1);
  });
});

test("a node that asks by LangGraph's interrupt() as well takes each answer at its own question", async ({
  db,
}) => {
  const asks: readonly Ask[] = [interrupt, langGraphInterrupt, langGraphInterrupt, interrupt];
  const runs: string[] = [];
  const graph = new StateGraph(OwnState)
    .addNode('asks', () => {
      runs.push('asks');
      return { log: questions.map((question, at) => (asks[at] as Ask)<string, string>(question)) };
    })
    .addEdge(START, 'asks');
  const values = await answerAll(durable(graph, { db }), {});
  expect(JSON.parse(values)).toEqual({ log: questions.map((question) => `answer to ${question}`) });
  expect(runs).toHaveLength(ANSWERS + 2 + 1); // once more for each of LangGraph's
});

test('a question that has changed is asked anew, and those before it keep their answers', async ({ db }) => {
  const shown = ['one', 'two'];
  const graph = new StateGraph(OwnState)
    .addNode('asks', async () => {
      const first = interrupt<string, string>(shown[0] as string);
      await step('call', () => `called after ${first}`);
      return { log: [first, interrupt<string, string>(shown[1] as string)] };
    })
    .addEdge(START, 'asks');
  const app = durable(graph, { db });
  await app.decide(only((await app.run('run', {})).gates), { value: 'first', by: ada });
  const second = only((await app.run('run')).gates);
  shown[1] = 'other';
  await app.decide(second, { value: 'second', by: ada });
  const anew = only((await app.run('run')).gates);
  expect(anew).toMatchObject({ artifact: 'other' });
  await app.decide(anew, { value: 'third', by: ada });
  expect((await app.run('run')).values?.log).toEqual(['first', 'third']);
});

test('a value that nobody could read is refused where it is asked', async ({ db }) => {
  let shown: unknown = 'text';
  const graph = new StateGraph(OwnState)
    .addNode('asks', () => ({ answer: interrupt(shown) }))
    .addEdge(START, 'asks');
  const app = durable(graph, { db });
  await app.decide(only((await app.run('run', {})).gates), { value: 'yes', by: ada });
  shown = () => 'a function';
  await expect(app.run('run')).rejects.toMatchObject({ code: 'RUN_FAILED' });
  shown = 'text';
  expect((await app.run('run')).values?.answer).toBe('yes');
});

test('outside a graph it says what LangGraph says', () => {
  expect(() => interrupt('anything')).toThrow('Called interrupt() outside the context of a graph.');
});

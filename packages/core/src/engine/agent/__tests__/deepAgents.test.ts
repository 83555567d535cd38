import { HumanMessage } from '@langchain/core/messages';
import { createDeepAgent, GENERAL_PURPOSE_SUBAGENT } from 'deepagents';
import { type AgentMiddleware, createAgent, createMiddleware } from 'langchain';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../app/durable.ts';
import { recordCalls, recordedSubagents } from '../recordCalls.ts';
import { ScriptedModel } from './agent.ts';

const model = new ScriptedModel([{ text: 'Hi.' }]);
const messages = [new HumanMessage('Hello.')];
const counting = createMiddleware({
  name: 'counting',
  stateSchema: z.object({ count: z.number().default(7) }),
});

describe('durable() has the types', () => {
  test('of a deep agent and its middlewares', async ({ db }) => {
    const agent = createDeepAgent({
      model,
      middleware: [counting, recordCalls()],
      subagents: recordedSubagents([
        GENERAL_PURPOSE_SUBAGENT,
        { name: 'a', description: 'b', systemPrompt: 'c' },
      ]),
    });
    const app = durable(agent, { db });
    const { values } = await app.run('run', { messages });
    const last: string | undefined = values?.messages.at(-1)?.text;
    const count: number | undefined = values?.count;
    const files: object | undefined = values?.files;
    expect([last, count, files]).toEqual(['Hi.', 7, {}]);
    // @ts-expect-error: a deep agent has no such channel
    expect(values?.answer).toBeUndefined();
  });

  test('of an agent of createAgent()', async ({ db }) => {
    const agent = createAgent({ model, tools: [], middleware: [counting, recordCalls()] });
    const { values } = await durable(agent, { db }).run('run', { messages });
    const last: string | undefined = values?.messages.at(-1)?.text;
    const count: number | undefined = values?.count;
    expect([last, count]).toEqual(['Hi.', 7]);
    // @ts-expect-error: an agent has no such channel
    expect(values?.answer).toBeUndefined();
  });
});

describe('recordedSubagents()', () => {
  const namesOf = (subagent: object) =>
    (subagent as { middleware?: readonly AgentMiddleware[] }).middleware?.map(({ name }) => name);
  const declared = { name: 'a', description: 'b', systemPrompt: 'c' };

  test('adds recordCalls() behind the middlewares of a subagent, once', () => {
    const others = { ...declared, middleware: [counting] };
    const own = { ...declared, middleware: [recordCalls(), counting] };
    expect(recordedSubagents([declared, others, own] as const).map(namesOf)).toEqual([
      ['RecordCalls'],
      ['counting', 'RecordCalls'],
      ['RecordCalls', 'counting'],
    ]);
    expect(others.middleware).toEqual([counting]);
  });

  test('leaves what is an agent already, or runs elsewhere', () => {
    const compiled = { name: 'a', description: 'b', runnable: createAgent({ model, tools: [] }) };
    const remote = { name: 'a', description: 'b', graphId: 'remote' };
    const [first, second] = recordedSubagents([compiled, remote] as const);
    expect([first === compiled, second === remote]).toEqual([true, true]);
  });

  test('takes the options of recordCalls() alone', () => {
    expect(() => recordedSubagents([declared], { gate: true } as never)).toThrow('no option `gate`');
    const agent = createDeepAgent({
      model,
      subagents: recordedSubagents([declared], { gates: { send: true } }),
    });
    expect(agent.graph).toBeDefined();
  });
});

import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { type AgentMiddleware, createAgent } from 'langchain';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { durable } from '../../app/durable.ts';
import { perToolCall } from '../../gates/DeclaredGate.ts';
import { recordCalls } from '../recordCalls.ts';
import { type Said, ScriptedModel } from './agent.ts';

const INPUT = { messages: [new HumanMessage({ id: 'question', content: 'Tell bob the weather.' })] };
const ada = { kind: 'human', id: 'ada' } as const;

const SCRIPT: readonly Said[] = [
  {
    text: 'Let me look.',
    calls: [
      { id: 'a', name: 'search', args: { q: 'weather' } },
      { id: 'b', name: 'mail', args: { q: 'bob' } },
      { id: 'c', name: 'pay', args: { q: '5' } },
      { id: 'd', name: 'broken', args: { q: 'x' } },
    ],
  },
  { text: 'All is said and done.' },
];

/** Tools that write down their calls, and an agent with them. */
function agentWith(
  middleware: readonly unknown[],
  {
    script = SCRIPT,
    version = 'v2' as const,
    ...options
  }: Record<string, unknown> & { script?: readonly (Said | Error)[]; version?: 'v1' | 'v2' } = {},
) {
  const calls: string[] = [];
  const does = (name: string) =>
    tool(
      ({ q }: { q: string }) => {
        calls.push(`${name} ${q}`);
        if (name === 'broken') throw new Error('no such place');
        return `${name}: ${q}`;
      },
      { name, description: name, schema: z.object({ q: z.string() }) },
    );
  const tools = ['search', 'mail', 'pay', 'broken'].map(does);
  const model = new ScriptedModel(script, (index) => calls.push(`model ${index}`));
  const agent = createAgent({
    model,
    tools,
    middleware: middleware as AgentMiddleware[],
    version,
    ...options,
  });
  return { agent, calls };
}

const STREAMED = { streamMode: ['messages', 'updates'] };

const plainly = (messages: unknown) => JSON.parse(JSON.stringify(messages)) as unknown;

describe.each(['v1', 'v2'] as const)('recordCalls() with the tools of %s', (version) => {
  test('ends with the state and the stream of the agent without it', async ({ db }) => {
    const plain = agentWith([], { version });
    const expected: unknown[] = [];
    for await (const chunk of await plain.agent.stream(INPUT as never, STREAMED as never))
      expected.push(plainly(chunk));
    const own = agentWith([recordCalls()], { version });
    const streamed: unknown[] = [];
    for await (const chunk of await own.agent.stream(INPUT as never, STREAMED as never))
      streamed.push(plainly(chunk));
    const withoutIds = (chunks: readonly unknown[]) =>
      JSON.stringify(chunks).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id');
    expect(withoutIds(streamed)).toBe(withoutIds(expected));
    const durably = agentWith([recordCalls()], { version });
    const { status, values } = await durable(durably.agent, { db }).run('run', INPUT);
    const { messages } = (await agentWith([], { version }).agent.invoke(INPUT as never)) as {
      messages: unknown;
    };
    expect(status).toBe('completed');
    expect(withoutIds([plainly((values as { messages: unknown }).messages)])).toBe(
      withoutIds([plainly(messages)]),
    );
    expect(durably.calls.toSorted()).toEqual(plain.calls.toSorted());
  });

  test('streams from the file what the agent without it streams', async ({ db }) => {
    const streamOf = async (run: string, middleware: readonly unknown[]) => {
      const { agent } = agentWith(middleware, { version, script: SCRIPT.slice(1) });
      const told: unknown[] = [];
      for await (const event of durable(agent, { db }).stream(run, INPUT, {
        streamMode: ['messages', 'updates'],
      }))
        told.push(event.mode === 'messages' ? event.data : event.mode);
      return told;
    };
    const expected = await streamOf('plain', []);
    expect(await streamOf('run', [recordCalls()])).toEqual(expected);
    expect(expected).toEqual(['All', ' is', ' said', ' and', ' done.', '', 'updates', 'end']);
  });

  test('records each call with its usage, and asks about two of four side by side', async ({ db }) => {
    const { agent, calls } = agentWith(
      [recordCalls({ gates: { mail: true, pay: ({ args }) => args['q'] } })],
      { version },
    );
    const app = durable(agent, { db, budget: { calls: 50 } });
    const { gates } = await app.run('run', INPUT);
    expect(gates.map(({ artifact }) => artifact).toSorted()).toEqual([
      '5',
      { tool: 'mail', args: { q: 'bob' } },
    ]);
    // The other two are on their way, or begin with the answers.
    expect(calls.filter((call) => /^(?:mail|pay)/.test(call))).toEqual([]);
    for (const gate of gates) {
      const answer =
        gate.artifact === '5' ? { approved: false, feedback: 'Too much.' } : { edit: { q: 'eve' } };
      await app.decide(gate, { ...answer, by: ada });
    }
    const { status, values } = await app.run('run');
    expect(status).toBe('completed');
    expect(calls.toSorted()).toEqual(['broken x', 'mail eve', 'model 0', 'model 1', 'search weather']);
    const told = (values as { messages: { text: string }[] }).messages.map(({ text }) => text);
    expect(told).toEqual([
      'Tell bob the weather.',
      'Let me look.',
      'search: weather',
      'mail: eve',
      'Too much.',
      'Error: no such place\n Please fix your mistakes.',
      'All is said and done.',
    ]);
    const rows = db
      .prepare('SELECT name, state, attempt, tokens_in, tokens_out FROM agent_steps ORDER BY name')
      .all();
    expect(rows.map((row) => Object.values(row as object).join(' '))).toEqual([
      'broken d done 1  ',
      'mail b done 1  ',
      'model done 1 10 5',
      'model done 1 10 5',
      'search a done 1  ',
    ]);
  });
});

describe('a call that is refused again and again', () => {
  const again = (id: string): Said => ({ calls: [{ id, name: 'mail', args: { q: 'bob' } }] });
  const script = Array.from({ length: 9 }, (_, index) => again(`call-${index}`));
  const refusal = { approved: false, feedback: 'No.', by: ada } as const;

  test('is no progress: after the second time a guard asks, and names the call', async ({ db }) => {
    const { agent } = agentWith([recordCalls({ gates: { mail: true } })], { script });
    const app = durable(agent, { db });
    let ran = await app.run('run', INPUT);
    for (let refused = 0; refused < 2; refused += 1) {
      expect(only(ran.gates).kind).toBe('node_gate');
      await app.decide(only(ran.gates), refusal);
      ran = await app.run('run');
    }
    const guard = only(ran.gates);
    expect(guard).toMatchObject({
      kind: 'recursion_limit',
      message: '"mail" was refused 2 times with the same arguments, and is asked for again.',
      artifact: { tool: 'mail', args: { q: 'bob' }, refusals: 2 },
    });
    await app.decide(guard, { action: 'continue', by: ada });
    ran = await app.run('run');
    for (let refused = 0; refused < 2; refused += 1) {
      expect(only(ran.gates).kind).toBe('node_gate');
      await app.decide(only(ran.gates), refusal);
      ran = await app.run('run');
    }
    expect(only(ran.gates).kind).toBe('recursion_limit');
    await app.decide(only(ran.gates), { action: 'abort', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'aborted by a human' });
  });

  test('is the same at a gate before the node of the tools', async ({ db }) => {
    const { agent } = agentWith([], { script });
    const app = durable(agent, { db, gates: { tools: perToolCall() } });
    let ran = await app.run('run', INPUT);
    for (let refused = 0; refused < 2; refused += 1) {
      await app.decide(only(ran.gates), refusal);
      ran = await app.run('run');
    }
    expect(only(ran.gates)).toMatchObject({ kind: 'recursion_limit', artifact: { tool: 'mail' } });
  });

  test('is another call with other arguments, and after a yes', async ({ db }) => {
    const other = script.map((said, index) =>
      index === 1 ? { calls: [{ id: 'other', name: 'mail', args: { q: 'eve' } }] } : said,
    );
    const { agent } = agentWith([recordCalls({ gates: { mail: true } })], { script: other });
    const app = durable(agent, { db });
    let ran = await app.run('run', INPUT);
    for (const answer of [refusal, refusal, { approved: true, by: ada }, refusal, refusal]) {
      expect(only(ran.gates).kind).toBe('node_gate');
      await app.decide(only(ran.gates), answer);
      ran = await app.run('run');
    }
    expect(only(ran.gates).kind).toBe('recursion_limit');
  });
});

test('an agent without it is told of: its calls would be made again', async ({ db }) => {
  const own = (middleware: readonly unknown[]) => durable(agentWith(middleware).agent, { db });
  await own([recordCalls()]).run('recorded', INPUT);
  expect(doctor(db).findings).toEqual([]);
  await own([]).run('plain', INPUT);
  await own([]).run('other', INPUT);
  expect(doctor(db).ok).toBe(true);
  expect(doctor(db).findings.map(({ detail }) => detail)).toEqual([
    ...[
      'Node "model_request" called model "ScriptedModel" outside of a step in 2 runs; a crash or a retry makes the call again.',
    ],
    ...['broken', 'mail', 'pay', 'search'].map(
      (name) =>
        `Node "tools" called tool "${name}" outside of a step in 2 runs; a crash or a retry makes the call again.`,
    ),
  ]);
});

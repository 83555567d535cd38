import { durable, perToolCall, resumeAnswer, step } from '@devs/core/langgraph';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../core/test/support/fixtures.ts';
import { only } from '../../../core/test/support/only.ts';

/** Calls its tool once, then says what it was told. */
class OneCallModel extends BaseChatModel {
  _llmType(): string {
    return 'one-call';
  }
  override bindTools(): this {
    return this;
  }
  async _generate(messages: BaseMessage[]) {
    const result = messages.find((message) => message instanceof ToolMessage);
    const call = { id: 'call-1', name: 'mail', args: { to: 'bob' } };
    const message =
      result === undefined
        ? new AIMessage({ id: 'ask', content: '', tool_calls: [call] })
        : new AIMessage({ id: 'answer', content: `Done: ${String(result.content)}.` });
    return { generations: [{ text: message.text, message }] };
  }
}

const INPUT = { messages: [new HumanMessage({ id: 'question', content: 'Tell bob.' })] };
const ada = { kind: 'human', id: 'ada' } as const;

const told = (messages: readonly BaseMessage[] | undefined) =>
  messages?.map(({ type, content }) => [type, content]);

interface MailingOptions {
  readonly middleware?: readonly ReturnType<typeof humanInTheLoopMiddleware>[];
  readonly checkpointer?: MemorySaver;
}

/** An agent with a tool that sends; what it sent is outside of it. */
function mailing(sent: string[], { middleware = [], ...options }: MailingOptions = {}) {
  const send = (to: string) => {
    sent.push(to);
    return `sent to ${to}`;
  };
  const mail = tool(({ to }) => step('send', () => send(to)), {
    name: 'mail',
    description: 'Sends a mail.',
    schema: z.object({ to: z.string() }),
  });
  return createAgent({ model: new OneCallModel({}), tools: [mail], middleware, ...options });
}

describe('createAgent of langchain', () => {
  test('is taken as it is, and answers as it does alone', async ({ db }) => {
    const schema = z.object({ to: z.string() });
    const mail = tool((call: { to: string }) => `sent to ${call.to}`, {
      name: 'mail',
      description: 'Sends.',
      schema,
    });
    const plain = createAgent({ model: new OneCallModel({}), tools: [mail] });
    const expected = await plain.invoke(INPUT);
    const sent: string[] = [];
    const { status, values } = await durable(mailing(sent), { db }).run('run', INPUT);
    expect(status).toBe('completed');
    expect(told(values?.messages)).toEqual(told(expected.messages));
    expect(told(values?.messages)?.at(-1)).toEqual(['ai', 'Done: sent to bob.']);
    expect(sent).toEqual(['bob']);
  });

  test('asks about each tool call by a gate of its own', async ({ db }) => {
    const sent: string[] = [];
    const gates = { tools: perToolCall(({ args }) => args) };
    const app = durable(mailing(sent), { db, gates });
    const gate = only((await app.run('run', INPUT)).gates);
    expect(gate.artifact).toEqual({ to: 'bob' });
    await app.decide(gate, { edit: { to: 'eve' }, by: ada });
    const { values } = await durable(mailing(sent), { db, gates }).run('run');
    expect([told(values?.messages)?.at(-1), sent]).toEqual([['ai', 'Done: sent to eve.'], ['eve']]);

    const refusing = only((await app.run('other', INPUT)).gates);
    await app.decide(refusing, { approved: false, feedback: 'Bob is away.', by: ada });
    const other = await app.run('other');
    expect([told(other.values?.messages)?.at(-1), sent]).toEqual([['ai', 'Done: Bob is away..'], ['eve']]);
  });

  test('asks by its middleware, and sends once a human has said so', async ({ db }) => {
    const options = { interruptOn: { mail: true } } as never; // its type is lost in the installed versions' zod
    const middleware = [humanInTheLoopMiddleware(options)];
    const plain = mailing([], { middleware, checkpointer: new MemorySaver() });
    const paused = (await plain.invoke(INPUT, { configurable: { thread_id: 'plain' } })) as {
      readonly __interrupt__: readonly { readonly value: unknown }[];
    };
    const sent: string[] = [];
    const app = durable(mailing(sent, { middleware }), { db });
    const { gates } = await app.run('run', INPUT);
    const gate = only(gates);
    expect(gate).toMatchObject({
      kind: 'interrupt',
      message: 'The agent asks to call mail.',
      artifact: only(paused.__interrupt__).value,
    });
    expect(sent).toEqual([]);
    await app.decide(gate, { value: { decisions: [{ type: 'approve' }] }, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(sent).toEqual(['bob']);
  });

  test('takes a yes or a no for all that its middleware asks', async ({ db }) => {
    const sent: string[] = [];
    const middleware = [humanInTheLoopMiddleware({ interruptOn: { mail: true } } as never)];
    const app = durable(mailing(sent, { middleware }), { db });
    const answered = async (id: string, answer: object) => {
      const gate = only((await app.run(id, INPUT)).gates);
      expect(gate.decisions).toEqual(['approve', 'edit', 'reject']);
      await app.decide(gate, { ...answer, by: ada } as never);
      return told((await app.run(id)).values?.messages)?.at(-1);
    };
    expect(await answered('bare', { approved: false })).toEqual(['ai', expect.stringContaining('rejected')]);
    expect(await answered('no', { approved: false, feedback: 'Not him.' })).toEqual([
      'ai',
      expect.stringContaining('Not him.'),
    ]);
    expect(sent).toEqual([]);
    const both = answered('both', { approved: true, feedback: 'Mind him.' });
    await expect(both).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    expect(await answered('yes', { approved: true })).toEqual(['ai', 'Done: sent to bob.']);
    expect(sent).toEqual(['bob']);
  });

  test('refuses a yes that its middleware does not take, and comments', async ({ db }) => {
    const options = { interruptOn: { mail: { allowedDecisions: ['reject'] } } } as never;
    const app = durable(mailing([], { middleware: [humanInTheLoopMiddleware(options)] }), { db });
    const gate = only((await app.run('run', INPUT)).gates);
    expect(gate.decisions).toEqual(['reject']);
    const comments = [{ in: '', quote: 'bob', text: 'eve' }];
    for (const answer of [
      { approved: true },
      { approved: false, feedback: 'No.', comments },
      { value: { decisions: [{ type: 'reject', message: 5 }] } },
    ])
      await expect(app.decide(gate, { ...answer, by: ada } as never)).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
      });
    await app.decide(gate, { approved: false, feedback: 'No.', by: ada } as never);
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
  });

  const eve = { name: 'mail', args: { to: 'eve' } };

  test.for([
    ['a text', 'yes', 'value.decisions: Expected a list of 1'],
    ['no decision', { decisions: [] }, 'value.decisions: Expected a list of 1'],
    ['two decisions', { decisions: [{ type: 'approve' }, { type: 'approve' }] }, 'Expected a list of 1'],
    [
      'a decision that is not allowed',
      { decisions: [{ type: 'reject' }] },
      'decisions.0.type: Expected one of approve, edit',
    ],
    ['no decision at all', { decisions: [null] }, 'decisions.0.type'],
    [
      "an edit in Python's name",
      { decisions: [{ type: 'edit', edited_action: eve }] },
      'decisions.0.editedAction',
    ],
    [
      'an edit without arguments',
      { decisions: [{ type: 'edit', editedAction: { name: 'mail' } }] },
      'decisions.0.editedAction',
    ],
  ] as const)(
    'refuses what its middleware would throw at, and takes the next answer: %s',
    async ([, value, place], { db }) => {
      const options = { interruptOn: { mail: { allowedDecisions: ['approve', 'edit'] } } } as never;
      const sent: string[] = [];
      const app = durable(mailing(sent, { middleware: [humanInTheLoopMiddleware(options)] }), { db });
      const gate = only((await app.run('run', INPUT)).gates);
      const refused = app.decide(gate, { value, by: ada });
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
      await expect(refused).rejects.toThrow(place);
      await app.decide(gate, {
        ...resumeAnswer(gate, [{ type: 'edit', args: { ...eve } }]),
        by: ada,
      } as never);
      expect(await app.run('run')).toMatchObject({ status: 'completed' });
      expect(sent).toEqual(['eve']);
    },
  );
});

describe('the types of an agent', () => {
  test('are its own: its messages, and a state of its author', async ({ db }) => {
    const agent = createAgent({
      model: new OneCallModel({}),
      tools: [],
      stateSchema: z.object({ customer: z.string().default('nobody') }),
    });
    const app = durable(agent, { db });
    const { values } = await app.run('typed', { ...INPUT, customer: 'acme' });
    const customer: string | undefined = values?.customer;
    const messages: readonly BaseMessage[] | undefined = values?.messages;
    expect([customer, messages?.length]).toEqual(['acme', 2]);
    // @ts-expect-error: no channel of the agent
    expect((await app.values('typed'))?.cusomer).toBeUndefined();
    // @ts-expect-error: a customer is a text
    const wrong = () => app.run('other', { ...INPUT, customer: 7 });
    expect(wrong).toBeTypeOf('function');
  });
});

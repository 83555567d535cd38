import { HumanMessage } from '@langchain/core/messages';
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';

const Mail = Annotation.Root({
  to: Annotation<string>(),
  text: Annotation<string>(),
  sent: Annotation<number>(),
});

const asking = new StateGraph(Mail)
  .addNode('send', ({ sent = 0 }) => ({ sent: interrupt('Send it?') ? sent + 1 : sent }))
  .addEdge(START, 'send')
  .addEdge('send', END);

const MAIL = { to: 'grace', text: 'Hello.' };

describe('an input for a run that is known', () => {
  test('may be the same again, in any order of its fields', async ({ db }) => {
    const app = durable(asking, { db });
    await app.run('mail', MAIL);
    expect(await app.run('mail', { text: 'Hello.', to: 'grace' })).toMatchObject({ status: 'waiting' });
  });

  test('is refused when it is another one, and the run is as it was', async ({ db }) => {
    const app = durable(asking, { db });
    const { gates } = await app.run('mail', MAIL);
    const epoch = internalsOf(app).store.threads.require('mail').leaseEpoch;
    for (const other of [{ ...MAIL, text: 'Bye.' }, { to: 'grace' }, {}, { ...MAIL, sent: 1 }]) {
      await expect(app.run('mail', other)).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    }
    expect(internalsOf(app).store.threads.require('mail').leaseEpoch).toBe(epoch);
    expect(await app.gates('mail')).toEqual(gates);
    expect(await app.run('mail')).toMatchObject({ status: 'waiting', values: MAIL });
  });

  test('is compared as it was recorded: exactly, and with its classes', async ({ db }) => {
    const app = durable(asking, { db });
    const secret = { to: 'grace', text: `token ghp_${'a1B2'.repeat(9)}` };
    await app.run('secret', secret);
    expect(await app.run('secret', secret)).toMatchObject({ status: 'waiting' });
    const other = { ...secret, text: `token ghp_${'a1B3'.repeat(9)}` };
    await expect(app.run('secret', other)).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });

    const chat = durable(
      new StateGraph(MessagesAnnotation).addNode('wait', () => interrupt('?')).addEdge(START, 'wait'),
      { db },
    );
    const said = (text: string) => ({ messages: [new HumanMessage(text)] });
    await chat.run('chat', said('Hello.'));
    expect(await chat.run('chat', said('Hello.'))).toMatchObject({ status: 'waiting' });
    await expect(chat.run('chat', said('Bye.'))).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
  });
});

class OutOfStamps extends Error {
  override readonly name = 'OutOfStamps';
}

const failing = (thrown: () => unknown) =>
  new StateGraph(Mail)
    .addNode('send', () => {
      throw thrown();
    })
    .addEdge(START, 'send')
    .addEdge('send', END);

describe('what a node threw', () => {
  test('is in the result of the drive that ended with it, with its causes, masked', async ({ db }) => {
    const password = `ghp_${'a1B2'.repeat(9)}`;
    const cause = new RangeError(`0 stamps for ${password}`);
    const app = durable(
      failing(() => new OutOfStamps('No stamps.', { cause })),
      { db },
    );
    const { status, reason, error } = await app.run('mail', MAIL, { throwOnFailure: false });
    expect({ status, reason }).toEqual({ status: 'failed', reason: 'No stamps.' });
    expect(error).toMatchObject({
      name: 'OutOfStamps',
      message: 'No stamps.',
      stack: expect.stringContaining('inputsAndErrors.test.ts'),
      cause: { name: 'RangeError', message: expect.stringContaining('0 stamps for ') },
    });
    expect(JSON.stringify(error)).not.toContain(password);
  });

  test('ends with a chain that leads back to itself', async ({ db }) => {
    const loop = new Error('Round.');
    loop.cause = loop;
    const { error } = await durable(
      failing(() => loop),
      { db },
    ).run('mail', MAIL, { throwOnFailure: false });
    expect(error?.cause?.cause).toMatchObject({ message: 'Round.' });
  });

  test('is not there where nothing was thrown', async ({ db }) => {
    expect(await durable(asking, { db }).run('mail', MAIL)).not.toHaveProperty('error');
  });
});

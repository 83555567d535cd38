// The tests of docs/guide/testing.md, as they are there.
import { durable, step, waitFor } from '@devs/core/langgraph';
import { SkippingClock, testApp } from '@devs/core/testing';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { beforeEach, expect, test } from 'vitest';

type Model = (topic: string) => Promise<string>;
type Publish = (text: string, key: string) => Promise<string>;

const DAY = 24 * 60 * 60 * 1000;

const Post = Annotation.Root({
  topic: Annotation<string>,
  text: Annotation<string>,
  url: Annotation<string>,
});

const calls: string[] = [];
beforeEach(() => {
  calls.length = 0;
});

const model: Model = async (topic) => {
  calls.push('model');
  return `About ${topic}`;
};
const publish: Publish = async () => {
  calls.push('publish');
  return 'https://example.org/post-1';
};

const postGraph = (model: Model, publish: Publish) =>
  new StateGraph(Post)
    .addNode('write', async ({ topic }) => ({ text: await step('llm', () => model(topic)) }))
    .addNode('publish', async ({ text }) => ({ url: await step('post', ({ key }) => publish(text, key)) }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);
const builder = postGraph(model, publish);

const Order = Annotation.Root({ order: Annotation<string>, state: Annotation<string> });
const orderGraph = new StateGraph(Order)
  .addNode('wait', async () => {
    const paid = await waitFor<{ amount: number }>('payment', { within: 14 * DAY });
    return { state: paid.timedOut ? 'overdue' : `paid ${paid.payload.amount}` };
  })
  .addEdge(START, 'wait')
  .addEdge('wait', END);

test('publishes the approved text once', async () => {
  const app = testApp(builder, { gates: { publish: ({ text }) => ({ text }) } });
  const { gates } = await app.run('post-1', { topic: 'tea' });
  await app.answer(gates[0]); // approves as a test person
  const { status, values } = await app.run('post-1');
  expect([status, values?.url]).toEqual(['completed', 'https://example.org/post-1']);
  app.close();
});

test('a crash does not repeat a recorded call', async () => {
  const app = testApp(postGraph(model, publish));
  await app.crashAt('in step llm', 'post-1', { topic: 'tea' }); // called, not recorded
  await app.crashAt('after step post', 'post-1'); // recorded
  const { status } = await app.run('post-1');
  expect([status, calls]).toEqual(['completed', ['model', 'model', 'publish']]);
  app.close();
});

test('an edited draft is published', async () => {
  const app = testApp(postGraph(model, publish), {
    gates: { publish: { show: ({ text }) => text, edit: (_state, edited) => ({ text: String(edited) }) } },
  });
  const { gates } = await app.run('post-1', { topic: 'tea' });
  await app.answer(gates[0], { edit: 'Better' });
  const { values } = await app.run('post-1');
  expect(values?.text).toBe('Better');
  app.close();
});

test('an unpaid order is overdue after 14 days', async () => {
  const app = testApp(orderGraph);
  const { until } = await app.run('order-7', { order: 'tea' });
  expect(until).toBe(app.clock.now() + 14 * DAY);
  await app.skip(14 * DAY);
  expect(await app.app.values('order-7')).toMatchObject({ state: 'overdue' });
  app.close();
});

test('a paid order is done', async () => {
  const app = testApp(orderGraph);
  await app.run('order-7', { order: 'tea' });
  const by = { kind: 'policy', id: 'bank' } as const;
  await app.app.signal('order-7', 'payment', { amount: 120 }, { by, signalId: 'event-1' });
  const { values } = await app.run('order-7');
  expect(values?.state).toBe('paid 120');
  app.close();
});

test('the node writes a draft', async () => {
  const write = async ({ topic }: { topic: string }) => ({ text: await step('llm', () => model(topic)) });
  expect(await write({ topic: 'tea' })).toEqual({ text: 'About tea' });
});

test('a file with a clock of its own', async () => {
  const file = ':memory:';
  const clock = new SkippingClock();
  const app = durable(orderGraph, { file, now: clock.now });
  await app.run('order-7', { order: 'tea' });
  clock.advance(14 * DAY);
  await app.runDue();
  expect(await app.values('order-7')).toMatchObject({ state: 'overdue' });
  app.close();
});

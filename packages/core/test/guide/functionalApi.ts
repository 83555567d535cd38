// The programs of docs/guide/functional-api.md.
import { durable, step } from '@devs/core/langgraph';
import { entrypoint, getPreviousState, interrupt, task } from '@langchain/langgraph';

declare function callModel(prompt: string): Promise<string>;
declare const blog: { post(text: string): Promise<string> };
declare const payments: {
  create(payment: { readonly amount: number }, call: { readonly idempotencyKey: string }): Promise<string>;
};

export async function essays() {
  const writeEssay = task('writeEssay', (topic: string) => callModel(`Write about ${topic}.`));
  const publish = task({ name: 'publish', retry: { maxAttempts: 3 } }, (text: string) => blog.post(text));

  const essay = entrypoint('essay', async (topic: string) => {
    const text = await writeEssay(topic);
    const review = interrupt<object, 'yes' | 'no'>({ question: 'Publish this?', text });
    return review === 'yes' ? publish(text) : null;
  });

  const app = durable(essay, { file: 'state.sqlite' });
  const { gates } = await app.run('essay-cats', 'cats'); // status: waiting
  return { app, gates };
}

export async function answer(): Promise<string | null> {
  const { app, gates } = await essays();
  for (const gate of gates) await app.decide(gate, { value: 'yes', by: { kind: 'human', id: 'ada' } });
  const { values } = await app.run('essay-cats');
  return values;
}

export function paying() {
  const pay = task('pay', (amount: number) =>
    step('pay', ({ key }) => payments.create({ amount }, { idempotencyKey: key })),
  );
  return pay;
}

export async function turns(): Promise<string | null> {
  const counter = entrypoint('counter', async (add: number) => {
    const sum = (getPreviousState<number>() ?? 0) + add;
    return entrypoint.final({ value: `sum ${sum}`, save: sum });
  });
  const sums = durable(counter, { file: 'state.sqlite' });
  await sums.run('sum-1', 2, { turn: 'message-1' });
  const second = await sums.run('sum-1', 3, { turn: 'message-2' });
  return second.values;
}

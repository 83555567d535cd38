// The programs of docs/guide/steps-and-retries.md.
import { durable, isDevsError, step } from '@devs/core/langgraph';
import { Annotation, Command, START, StateGraph } from '@langchain/langgraph';

const Trip = Annotation.Root({ city: Annotation<string>, problem: Annotation<string> });
const builder = new StateGraph(Trip).addNode('plan', () => ({ city: 'Bern' })).addEdge(START, 'plan');
const trip = () => new StateGraph(Trip).addNode('apologize', () => ({ city: 'Bern' }));

interface Call {
  readonly idempotencyKey: string;
  readonly signal?: AbortSignal;
}
interface Tokens {
  readonly input: number;
  readonly output: number;
}
declare function callModel(prompt: string, call: Call): Promise<string>;
declare function translate(part: string): Promise<string>;
declare function search(topic: string): Promise<string>;
declare function build(): Promise<string>;
declare function ask(prompt: string): Promise<{ readonly text: string; readonly tokens: Tokens }>;
declare function log(...words: readonly unknown[]): void;
declare function show(...words: readonly unknown[]): void;
declare function metrics(...words: readonly unknown[]): void;
declare const payments: { create(payment: { readonly amount: number }, call: Call): Promise<string> };
declare const prompt: string;
declare const parts: readonly string[];
declare const amount: number;
declare const topic: string;
declare const forecast: () => Promise<{ readonly city: string }>;
declare const write: typeof forecast;
declare const book: typeof forecast;

export async function call() {
  const draft = await step('llm', ({ key, signal }) => callModel(prompt, { idempotencyKey: key, signal }));
  return draft;
}

export async function inALoop() {
  for (const [index, part] of parts.entries()) await step(`translate ${index}`, () => translate(part));
}

export async function work() {
  const today = await step('today', () => new Date().toISOString(), { kind: 'work' });
  return today;
}

export async function key() {
  const receipt = await step('pay', ({ key, attempt }) => {
    if (attempt > 1) log(`attempt ${attempt}: an earlier call may have arrived`);
    return payments.create({ amount }, { idempotencyKey: key });
  });
  return receipt;
}

export function retries() {
  const builder = trip();
  builder.addNode('forecast', forecast, { retryPolicy: { maxAttempts: 3, initialInterval: 500 } });
}

export function timeout() {
  const builder = trip();
  builder.addNode('write', write, { timeout: 60_000, retryPolicy: { maxAttempts: 2 } });
}

export function handler() {
  const builder = trip();
  builder.addNode('book', book, {
    errorHandler: (_state, { node, error }) =>
      new Command({ update: { problem: `${node}: ${error.message}` }, goto: 'apologize' }),
    ends: ['apologize'],
  });
}

export async function failed() {
  const app = durable(builder, { file: 'state.sqlite' });
  try {
    await app.run('order-7');
  } catch (error) {
    if (isDevsError(error, 'RUN_FAILED')) log(error.message, error.cause);
    else throw error;
  }
}

export async function revived() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.revive('order-7', { by: { kind: 'human', id: 'ada' } });
  await app.run('order-7');
}

export function budget() {
  const app = durable(builder, { file: 'state.sqlite', budget: { usd: 2, calls: 100, ms: 600_000 } });
  return app;
}

export async function usage() {
  const answer = await step(
    'llm',
    async ({ usage }) => {
      const { text, tokens } = await ask(prompt);
      usage({ tokensIn: tokens.input, tokensOut: tokens.output, model: 'gpt-5' });
      return text;
    },
    { reserve: { usd: 0.2 } },
  );
  return answer;
}

export async function parallel() {
  const [facts, prices] = await Promise.all([
    step('facts', () => search(topic)),
    step('prices', () => search(`prices of ${topic}`)),
  ]);
  return { facts, prices };
}

export async function activity() {
  await step('build', async ({ onActivity }) => {
    onActivity({ kind: 'text', text: 'compiling' });
    return await build();
  });
}

export function listeners() {
  const app = durable(builder, { file: 'state.sqlite' });
  app.events.onActivity((activity, { step }) => show(step, activity));
  app.events.on('STEP_FINISHED', ({ node, step, attempt }, { threadId }) =>
    metrics(threadId, node, step, attempt),
  );
}

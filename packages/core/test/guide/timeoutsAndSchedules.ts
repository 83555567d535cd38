// The programs of docs/guide/timeouts-and-schedules.md.
import { durable, type Principal, progress, sleep, step, waitFor } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;

const Order = Annotation.Root({
  order: Annotation<string>,
  state: Annotation<string>,
  draft: Annotation<string>,
  count: Annotation<number>,
});
const Report = Order;
const builder = new StateGraph(Order).addNode('publish', () => ({})).addEdge(START, 'publish');

declare const order: string;
declare const event: { readonly id: string };
declare function mail(order: string, text: string, key: string): Promise<void>;
declare function sendReport(key: string): Promise<void>;

export function reminder() {
  const remind = async ({ order }: typeof Order.State) => {
    await step('bill', ({ key }) => mail(order, 'Please pay.', key));
    const paid = await waitFor<{ amount: number }>('payment', { within: 14 * DAY });
    if (!paid.timedOut) return { state: `paid ${paid.payload.amount}` };
    await sleep(new Date('2027-01-04T08:00:00Z'));
    await step('remind', ({ key }) => mail(order, 'You have not paid.', key));
    return { state: 'overdue' };
  };
  return remind;
}

export async function working(stopping: AbortController) {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.work({ concurrency: 20, signal: stopping.signal });
}

export async function due() {
  const app = durable(builder, { file: 'state.sqlite' });
  const { driven, refused } = await app.runDue({ limit: 20 });
  return { driven, refused };
}

export async function stay() {
  const app = durable(builder, { file: 'state.sqlite' });
  const { status } = await app.run('order-7', { order }, { wait: true });
  return status;
}

export async function sleeping() {
  await sleep(3 * DAY);
  await sleep(new Date('2027-01-04T08:00:00Z'));
}

export async function signals() {
  const app = durable(builder, { file: 'state.sqlite' });
  const payment = await waitFor<{ amount: number }>('payment');
  await app.signal(
    'order-7',
    'payment',
    { amount: 120 },
    { by: { kind: 'policy', id: 'bank' }, signalId: event.id },
  );
  return payment;
}

export async function signalWithStart(text: string, update: { readonly id: string }, customer: Principal) {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.signal('chat-7', 'message', text, {
    by: customer,
    signalId: update.id,
    start: { input: { count: 0 } },
  });
}

export async function inTime() {
  const review = await waitFor<string>('review', { within: 4 * HOUR });
  return review.timedOut ? {} : { draft: review.payload };
}

export function daily() {
  const builder = new StateGraph(Report);
  const tick = async ({ count }: typeof Report.State) => {
    await sleep(DAY);
    await step('report', ({ key }) => sendReport(key));
    progress();
    return { count: count + 1 };
  };
  builder.addNode('tick', tick).addEdge(START, 'tick').addEdge('tick', 'tick');
}

export async function scheduled() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.start(`report-${new Date().toISOString().slice(0, 10)}`, { count: 0 });
}

export async function stop() {
  const app = durable(builder, { file: 'state.sqlite' });
  const leaving = new AbortController();
  process.once('SIGTERM', () => leaving.abort());
  await app.run('order-7', { order }, { drain: leaving.signal });
}

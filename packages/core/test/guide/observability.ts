// The programs of docs/guide/observability.md.
import { durable, step } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const Post = Annotation.Root({ draft: Annotation<string> });
const builder = new StateGraph(Post).addNode('publish', () => ({})).addEdge(START, 'publish');

declare const stopping: AbortController;
declare const shop: string;

export async function traces() {
  const app = durable(builder, { file: 'state.sqlite', name: 'posts', telemetry: true });
  await app.work({ signal: stopping.signal });
  await app.exportTrace('post-42');
}

export function content() {
  const app = durable(builder, { file: 'state.sqlite', name: 'posts', telemetry: { content: true } });
  return app;
}

export async function calledServices() {
  const paid = await step('pay', ({ key, traceparent }) =>
    fetch(shop, { method: 'POST', headers: { 'idempotency-key': key, traceparent } }).then((answer) =>
      answer.json(),
    ),
  );
  return paid;
}

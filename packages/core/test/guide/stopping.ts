// The programs of docs/guide/stopping.md.
import { durable, step } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const Post = Annotation.Root({ topic: Annotation<string>, draft: Annotation<string> });

declare const request: { once(name: 'close', act: () => void): void };
declare function fetchText(topic: string, options: { readonly signal: AbortSignal }): Promise<string>;

const research = async ({ topic }: typeof Post.State) => ({
  draft: await step('research', ({ signal }) => fetchText(topic, { signal })),
});

const builder = new StateGraph(Post).addNode('research', research).addEdge(START, 'research');

export async function disconnect() {
  const app = durable(builder, { file: 'state.sqlite' });
  const gone = new AbortController();
  request.once('close', () => gone.abort());
  const result = await app.run('post-42', { topic: 'green tea' }, { signal: gone.signal });
  return result;
}

export async function leave() {
  const app = durable(builder, { file: 'state.sqlite' });
  const [drain, stop] = [new AbortController(), new AbortController()];
  process.once('SIGTERM', () => {
    drain.abort();
    setTimeout(() => stop.abort(), 20_000).unref();
  });
  await app.runDue({ drain: drain.signal, signal: stop.signal });
}

export async function elsewhere() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.pause('post-42', { abort: true });
  await app.run('post-42'); // makes the calls again that had no result
  await app.cancel('post-42');
}

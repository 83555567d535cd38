import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';

const Post = Annotation.Root({ text: Annotation<string> });

/** A run waits at a gate; its webhook receives that. */
export const hookedApp = (file: string, url: string, secret: string) =>
  durable(
    new StateGraph(Post)
      .addNode('publish', () => ({ text: 'published' }))
      .addEdge(START, 'publish')
      .addEdge('publish', END),
    { file, name: 'posts', gates: { publish: () => 'a post' }, webhooks: { team: { url, secret } } },
  );

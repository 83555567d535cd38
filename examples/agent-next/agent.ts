import { durable, step } from '@devs/core/langgraph';
import { AIMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** Stands for a model; `key` is the same for each attempt of a call. */
const model = async (topic: string, _key: string): Promise<string> => `A post about ${topic}.`;

const builder = new StateGraph(MessagesAnnotation)
  .addNode('write', async ({ messages }) => ({
    messages: [new AIMessage(await step('model', ({ key }) => model(messages.at(-1)?.text ?? '', key)))],
  }))
  .addNode('publish', ({ messages }) => {
    const answer: string = interrupt({ question: 'Publish this post?', post: messages.at(-1)?.text });
    return { messages: [new AIMessage(answer === 'yes' ? 'Published.' : 'Not published.')] };
  })
  .addEdge(START, 'write')
  .addEdge('write', 'publish')
  .addEdge('publish', END);

export const agent = durable(builder, {
  file: process.env['STATE_FILE'] ?? 'state.sqlite',
  name: 'agent',
  store: 'file',
});

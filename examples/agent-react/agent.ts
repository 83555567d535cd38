import { step } from '@devs/core/langgraph';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

/** Stands for a model and for a site; `key` is the same for each attempt of a call. */
const model = async (topic: string, _key: string): Promise<string> => `A post about ${topic}.`;
const publish = async (_post: string, key: string): Promise<string> =>
  `https://posts.example.org/${key.slice(0, 8)}`;

const textOf = (message: BaseMessage | undefined): string => message?.text ?? '';

/** Writes a post about the last message, asks, and publishes it. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('write', async ({ messages }) => ({
    messages: [new AIMessage(await step('model', ({ key }) => model(textOf(messages.at(-1)), key)))],
  }))
  .addNode('publish', async ({ messages }) => {
    const post = textOf(messages.at(-1));
    const answer: string = interrupt({ question: 'Publish this post?', post });
    if (answer !== 'yes') return { messages: [new AIMessage('Not published.')] };
    const url = await step('publish', ({ key }) => publish(post, key));
    return { messages: [new AIMessage(`Published: ${url}`)] };
  })
  .addEdge(START, 'write')
  .addEdge('write', 'publish')
  .addEdge('publish', END)
  .compile();

import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  END,
  getWriter,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware } from 'langchain';
import { z } from 'zod';
import { TalkingModel } from './TalkingModel.ts';

/** The outside world: what was called, in order. */
export type Call = (what: string) => void;

/** What the one question of `post` shows. */
export const QUESTION = 'Publish this?';

const Echo = Annotation.Root({
  text: Annotation<string>(),
  said: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

/** One node that repeats what it was told; `fail` makes it throw. */
export const echoGraph = (call: Call) =>
  new StateGraph(Echo)
    .addNode('echo', ({ text }) => {
      call(`echo ${text}`);
      if (text === 'fail') throw new Error('asked to fail');
      return { said: [text] };
    })
    .addEdge(START, 'echo')
    .addEdge('echo', END);

/** Three nodes, each with an event of its own. */
export const stepsGraph = (call: Call) => {
  const node = (name: string) => (): { said: string[] } => {
    call(name);
    getWriter()?.({ at: name });
    return { said: [name] };
  };
  return new StateGraph(Echo)
    .addNode('one', node('one'))
    .addNode('two', node('two'))
    .addNode('three', node('three'))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', 'three')
    .addEdge('three', END);
};

const Post = Annotation.Root({
  ...MessagesAnnotation.spec,
  url: Annotation<string | null>(),
});

const draftOf = (messages: readonly BaseMessage[]): string => messages.at(-1)?.text ?? '';

/** A model writes, a human is asked, and only a yes publishes. */
export const postGraph = (call: Call) => {
  const model = new TalkingModel(
    [{ text: 'the first draft' }, { text: 'the second draft' }, { text: 'the third draft' }],
    () => call('model'),
  );
  return new StateGraph(Post)
    .addNode('write', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('publish', ({ messages }) => {
      const answer: unknown = interrupt({ question: QUESTION, draft: draftOf(messages) });
      if (answer !== true) return { url: null };
      call(`published ${draftOf(messages)}`);
      return { url: 'https://posts.example/1' };
    })
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);
};

/** A chat without questions, whose words come one by one. */
export const chatGraph = (call: Call) => {
  const model = new TalkingModel(
    [{ text: 'hello to you' }, { text: 'hello once more' }, { text: 'and again' }],
    (index) => call(`model ${index}`),
  );
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'model')
    .addEdge('model', END);
};

/** An agent of LangChain that sends a mail only after a human's yes. */
export function mailAgent(call: Call) {
  const sendMail = tool(
    ({ to }) => {
      call(`mail to ${to}`);
      return `sent to ${to}`;
    },
    { name: 'send_mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) },
  );
  const model = new TalkingModel(
    [{ calls: [{ id: 'call-1', name: 'send_mail', args: { to: 'ada' } }] }, { text: 'It is done.' }],
    () => call('model'),
  );
  const allowedDecisions = ['approve', 'edit', 'reject'] as const;
  const approval = humanInTheLoopMiddleware({
    interruptOn: { send_mail: { allowedDecisions: [...allowedDecisions] } },
  } as never);
  // Their types do not know `exactOptionalPropertyTypes`.
  return createAgent({ model: model as never, tools: [sendMail], middleware: [approval as never] });
}

export const hello = (text = 'hello'): { messages: HumanMessage[] } => ({
  messages: [new HumanMessage(text)],
});

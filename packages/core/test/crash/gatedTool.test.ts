// A tool that asks a person, and a process that dies around it.
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import { expect, test } from 'vitest';
import { step } from '../../src/langgraph.ts';
import { testApp } from '../../src/testing/index.ts';

type Send = (to: string, key: string) => Promise<string>;
type Model = (messages: readonly unknown[]) => Promise<AIMessage>;
type Decision = { readonly type: string; readonly args?: { readonly to: string } };

const description = {
  name: 'mail',
  description: 'Sends a mail.',
  schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
} as const;

function mailAgent(model: Model, send: Send) {
  const mail = tool(async ({ to }: { to: string }) => {
    const [decision] = interrupt<object, Decision[]>({
      action_requests: [{ name: 'mail', args: { to } }],
      review_configs: [{ action_name: 'mail', allowed_decisions: ['approve', 'edit', 'reject'] }],
    });
    if (decision?.type === 'reject') return 'A human said no.';
    return await step('mail', ({ key }) => send(decision?.args?.to ?? to, key));
  }, description);
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({ messages: [await step('llm', () => model(messages))] }))
    .addNode('tools', new ToolNode([mail]))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition, ['tools', '__end__'])
    .addEdge('tools', 'agent');
}

test('the mail is sent once, to whom the human says, whenever the process dies', async () => {
  const call = { id: 'call-1', name: 'mail', args: { to: 'bob' }, type: 'tool_call' as const };
  const model: Model = async (messages) =>
    messages.length > 1 ? new AIMessage('Done.') : new AIMessage({ content: '', tool_calls: [call] });
  const sent: string[] = [];
  const send: Send = async (to) => `sent to ${sent.push(to) && to}`;

  const app = testApp(mailAgent(model, send));
  await app.crashAt('in step llm', 'mail-1', { messages: [new HumanMessage('Write to Bob.')] });
  const { gates } = await app.run('mail-1');
  expect(gates[0]?.artifact).toMatchObject({ action_requests: [{ name: 'mail', args: { to: 'bob' } }] });
  await app.answer(gates[0], { value: [{ type: 'edit', args: { to: 'eve' } }] });
  await app.crashAt('after step mail', 'mail-1');
  const { status, values } = await app.run('mail-1');
  expect([status, values?.messages.at(-1)?.content, sent]).toEqual(['completed', 'Done.', ['eve']]);
  app.close();
});

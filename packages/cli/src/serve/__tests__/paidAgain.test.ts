import { EventBus } from '@devs/core';
import { recordCalls } from '@devs/core/langchain';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { isUnrecordedAgent, type PaidCall, watchPaidCalls } from '../paidAgain.ts';

/** As `createAgent` makes one. */
const agentWith = (...middleware: readonly unknown[]) => ({ options: { middleware }, graph: { nodes: {} } });

test('an agent without recordCalls() is one whose calls are paid again; of another graph nothing is known', () => {
  expect(isUnrecordedAgent(agentWith())).toBe(true);
  expect(isUnrecordedAgent({ options: {}, graph: {} })).toBe(true);
  expect(isUnrecordedAgent(agentWith({ name: 'Summarization' }))).toBe(true);
  expect(isUnrecordedAgent(agentWith({ name: 'Summarization' }, recordCalls()))).toBe(false);
  const builder = new StateGraph(MessagesAnnotation).addNode('talk', () => ({})).addEdge(START, 'talk');
  for (const source of [builder, builder.compile(), null, undefined, 'graph'])
    expect(isUnrecordedAgent(source)).toBe(false);
});

test('a call outside of a step is reported once for each graph, node and name', () => {
  const events = new EventBus();
  const told: PaidCall[] = [];
  watchPaidCalls('agent', events, (call) => told.push(call));
  const model = { node: 'talk', what: 'model', name: 'gpt' } as const;
  events.emit('CALL_NOT_RECORDED', model, { threadId: 'a' });
  events.emit('CALL_NOT_RECORDED', model, { threadId: 'b' });
  events.emit('CALL_NOT_RECORDED', { ...model, what: 'tool', name: 'mail' }, { threadId: 'a' });
  expect(told).toEqual([
    { graph: 'agent', ...model },
    { graph: 'agent', node: 'talk', what: 'tool', name: 'mail' },
  ]);
});

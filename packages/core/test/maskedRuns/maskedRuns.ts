import { HumanMessage } from '@langchain/core/messages';
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { durable } from '../../src/engine/app/durable.ts';
import { waitFor } from '../../src/engine/node/waitFor.ts';

// Runs as the last release left them that masked what it recorded: `maskedRuns.sqlite.br`, made by `leaveRuns` there. Not changed
// any more: what they ask must be what they asked.

export const TOKEN = `ghp_${'q7Rk2mWx9'.repeat(4)}`;
export const ada = { kind: 'human', id: 'ada' } as const;
export const bob = { kind: 'human', id: 'bob' } as const;
export const bank = { kind: 'policy', id: 'bank' } as const;

export const INPUT = {
  note: { text: `with ${TOKEN}`, map: new Map([[TOKEN, 1]]) },
  messages: [new HumanMessage({ id: 'm', content: [{ type: 'text', text: `Use ${TOKEN}.` }] })],
};
export const CONTEXT = { configurable: { tenant: TOKEN } };
export const VOTE = { approved: true, feedback: `As ${TOKEN} says.`, by: ada };
export const PAID = `paid ${TOKEN}`;
export const TOLD = { payload: { by: [TOKEN] }, options: { by: bank, signalId: 's-1' } };

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  note: Annotation<unknown>(),
  heard: Annotation<unknown>(),
});

export const appsOver = (db: Database) => {
  const asking = new StateGraph(State)
    .addNode('ask', () => ({ heard: interrupt({ run: `curl -H "${TOKEN}"`, at: new Date(0) }) }))
    .addEdge(START, 'ask');
  const gated = new StateGraph(State).addNode('act', () => ({ heard: 'acted' })).addEdge(START, 'act');
  const waiting = new StateGraph(State)
    .addNode('wait', async () => ({ heard: await waitFor(PAID) }))
    .addEdge(START, 'wait');
  const approvals = { of: ['ada', 'bob'], count: 2 };
  return {
    asking: durable(asking, { db }),
    gated: durable(gated, { db, gates: { act: { show: () => ({ run: TOKEN }), approvals } } }),
    waiting: durable(waiting, { db }),
  };
};

/** Done once, by that release. */
export async function leaveRuns(db: Database): Promise<void> {
  const { asking, gated, waiting } = appsOver(db);
  await asking.run('asks', INPUT, CONTEXT);
  const [gate] = (await gated.run('votes', INPUT)).gates;
  if (gate === undefined) throw new Error('no gate');
  await gated.decide(gate, { ...VOTE, withHidden: 1 });
  await waiting.run('waits', INPUT);
  await waiting.signal('waits', `later ${TOKEN}`, TOLD.payload, TOLD.options);
  const [first] = (await asking.run('chat', INPUT, { turn: '1' })).gates;
  if (first === undefined) throw new Error('no gate');
  await asking.decide(first, { value: 'yes', by: ada, withHidden: 1 });
  await asking.run('chat', INPUT, { turn: '1' });
  await asking.run('chat', INPUT, { turn: '2' });
}

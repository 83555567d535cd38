import { HumanMessage } from '@langchain/core/messages';
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { step } from '../../../src/engine/node/step.ts';
import type { Effect, Process, Scenario } from './Scenario.ts';

const says = (content: string) => ({ messages: [{ role: 'assistant', content }] });

/** A model that hears all that was said, and a human who is asked where a message is a question. */
const chat = (effect: Process['effect']) =>
  new StateGraph(MessagesAnnotation)
    .addNode('answer', async ({ messages }) => {
      const heard = messages.map(({ text }) => text).join(' / ');
      const call = async ({ key }: { key: string }) => {
        effect(heard, key);
        return `heard: ${messages.length}`;
      };
      return says(await step('llm', call));
    })
    .addNode('check', ({ messages }) =>
      messages.at(-2)?.text.endsWith('?') === true ? says(interrupt<string, string>('May I?')) : {},
    )
    .addEdge(START, 'answer')
    .addEdge('answer', 'check');

async function live({ db, durable, effect }: Process, run: string): Promise<unknown> {
  const app = durable(chat(effect), { db });
  const turns = ['one', 'two?', 'three'].map((text, index) => [`m-${index + 1}`, text] as const);
  for (const [turn, text] of turns) {
    let ran = await app.run(run, { messages: [new HumanMessage(text)] }, { turn });
    while (ran.status === 'waiting') {
      for (const gate of ran.gates)
        await app.decide(gate, { value: 'You may.', by: { kind: 'human', id: 'ada' } });
      ran = await app.run(run, undefined, { turn });
    }
  }
  const { status, turn, values } = await app.run(run);
  return { status, turn, said: values?.messages.map(({ text }) => text) };
}

/** How a turn stands in the file: its key, and whether its input is in the state, which is not said of the first. */
const turnsIn = (db: Database, run: string): readonly unknown[] =>
  db
    .prepare(
      'SELECT turn_key AS key, taken_at IS NOT NULL AS isTaken, ended_as AS endedAs FROM thread_inputs WHERE thread_id = ? ORDER BY turn',
    )
    .all(run);

/** What the model was asked, each in a call of its own. One call may have been in flight: it is made again under the same key. */
function callsIn(effects: readonly Effect[]): unknown {
  const calls = new Map(effects.map((effect) => [`${effect.key} ${effect.what}`, effect.what]));
  const heard = [...new Set(calls.values())];
  return { heard, calls: calls.size, isOneMadeAgain: effects.length - calls.size <= 1 };
}

export const turns: Scenario = {
  what: 'a chat of three turns',
  deaths: { atWrites: 1, byKill: 1 },
  start: (process) => (run) => live(process, run),
  expected: () => ({
    outcome: {
      status: 'completed',
      turn: 'm-3',
      said: ['one', 'heard: 1', 'two?', 'heard: 3', 'You may.', 'three', 'heard: 6'],
    },
    inFile: [
      { key: 'm-1', isTaken: 0, endedAs: 'completed' },
      { key: 'm-2', isTaken: 1, endedAs: 'completed' },
      { key: 'm-3', isTaken: 1, endedAs: null },
    ],
    outside: {
      heard: ['one', 'one / heard: 1 / two?', 'one / heard: 1 / two? / heard: 3 / You may. / three'],
      calls: 3,
      isOneMadeAgain: true,
    },
  }),
  inFile: ({ db }, run) => turnsIn(db, run),
  outside: callsIn,
};

import { appendFileSync } from 'node:fs';
import { HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

/** What models say, by the step they are asked in. */
export const SAYINGS = {
  one: 'the first words come',
  two: 'then others follow them',
  three: 'and these were last',
} as const;

export type Asked = keyof typeof SAYINGS;

/** Two recorded calls of models in a node, and one in the next. @param ledger - A file with a line for each call that is made. */
export function talkingApp(file: string, ledger: string) {
  const ask = (name: Asked): Promise<string> =>
    step(name, async () => {
      appendFileSync(ledger, `${name}\n`);
      const model = new FakeListChatModel({ responses: [SAYINGS[name]], sleep: 1 });
      return (await model.invoke([new HumanMessage('Say it.')])).text;
    });
  const builder = new StateGraph(State)
    .addNode('think', async () => ({ said: [await ask('one'), await ask('two')] }))
    .addNode('write', async () => ({ said: [await ask('three')] }))
    .addEdge(START, 'think')
    .addEdge('think', 'write')
    .addEdge('write', END);
  return durable(builder, { file });
}

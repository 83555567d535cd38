// Has a chat of three turns to its end, and kills itself at the named write. Arguments: the state file, the number of the
// write (or nothing). Every call is a line of calls.log beside the file before it is answered; stdout tells what was said
// and how many writes there were.
import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HumanMessage } from '@langchain/core/messages';
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { interceptStatements } from '../support/interceptStatements.ts';

const [file = '', dieAt = ''] = process.argv.slice(2);

const says = (content: string) => ({ messages: [{ role: 'assistant', content }] });
const chat = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => {
    const heard = messages.map(({ text }) => text).join(' / ');
    const call = async ({ key }: { key: string }) => {
      appendFileSync(join(dirname(file), 'calls.log'), `${key} ${heard}\n`);
      return `heard: ${messages.length}`;
    };
    return says(await step('llm', call));
  })
  .addNode('check', ({ messages }) =>
    messages.at(-2)?.text.endsWith('?') === true ? says(interrupt<string, string>('May I?')) : {},
  )
  .addEdge(START, 'answer')
  .addEdge('answer', 'check');

const db = createDatabase({ dbPath: file });
let writes = 0;
interceptStatements(db, (work, { readonly }) => {
  if (!readonly) writes += 1;
  if (!readonly && String(writes) === dieAt) process.kill(process.pid, 'SIGKILL');
  return work();
});
const app = durable(chat, { db });

const turns = ['one', 'two?', 'three'].map((text, index) => [`m-${index + 1}`, text] as const);
for (const [turn, text] of turns) {
  let ran = await app.run('chat', { messages: [new HumanMessage(text)] }, { turn });
  while (ran.status === 'waiting') {
    for (const gate of ran.gates)
      await app.decide(gate, { value: 'You may.', by: { kind: 'human', id: 'ada' } });
    ran = await app.run('chat', undefined, { turn });
  }
}
const { status, turn, values } = await app.run('chat');
const said = values?.messages.map(({ text }) => text);
process.stdout.write(JSON.stringify({ status, turn, said, writes }));
db.close();

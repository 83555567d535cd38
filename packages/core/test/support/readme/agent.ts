import { recordCalls } from '@devs/core/langchain';
import { durable } from '@devs/core/langgraph';
import { createAgent } from 'langchain';
import { model, tools } from './world.ts';

const agent = createAgent({ model, tools, middleware: [recordCalls({ gates: { send_mail: true } })] });
const app = durable(agent, { file: 'agents.sqlite' });

const messages = [{ role: 'user', content: 'Tell Bob the weather.' }];
const { gates } = await app.run('mail-7', { messages }); // calls the model, then waits for approval of the mail
for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
await app.run('mail-7'); // sends it once; no call of before is made again

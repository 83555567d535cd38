// `powerCut file facts durability`: a run from its start to its end, with what it does and is told of as lines of `facts`. It is traced
// from outside, and ends as in a power cut.
import { appendFileSync } from 'node:fs';
import type { Durability } from '../../../src/config/durability.ts';
import { createDatabase } from '../../../src/db/createDatabase.ts';
import { durable } from '../../../src/engine/app/durable.ts';
import { EventBus } from '../../../src/events/events.ts';
import { ANSWER, cutGraph, INPUT, RUN } from './cutGraph.ts';

const [dbPath = '', facts = '', durability = ''] = process.argv.slice(2);
const tell = (fact: string): void => appendFileSync(facts, `${fact}\n`);

const events = new EventBus();
events.on('NODE_FINISHED', ({ node }) => tell(`event ${node}`));
const app = durable(cutGraph(tell), {
  db: createDatabase({ dbPath }),
  events,
  durability: durability as Durability,
});
const [gate] = (await app.run(RUN, INPUT)).gates;
if (gate === undefined) throw new Error('It has asked nothing.');
tell('asked');
await app.decide(gate, ANSWER);
tell('decided');
await app.run(RUN);
tell('ended');
process.kill(process.pid, 'SIGKILL');

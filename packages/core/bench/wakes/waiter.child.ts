// `file [other name of its folder]`: drives a run that waits for an answer again and again, until it is killed. Says
// `node NS QUEUED` when an answer has arrived in the node behind it. Told `decide` by a line, it answers by itself, at a connection
// under the other name if there is one, and says `decided NS NS QUEUED`: before and after. NS is of the
// system's monotonic clock, QUEUED of `queuedNs`.

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { type Answered, answerOpen } from './answerOpen.ts';
import { queuedNs } from './queuedNs.ts';

const [file = '', otherName = file] = process.argv.slice(2);
const now = (): bigint => process.hrtime.bigint();
const say = (line: string): number => writeSync(1, `${line}\n`);

const State = Annotation.Root({ asked: Annotation<number>() });
const builder = () =>
  new StateGraph(State)
    .addNode('ask', ({ asked }) => {
      interrupt(asked);
      say(`node ${now()} ${queuedNs()}`);
      return { asked: asked + 1 };
    })
    .addEdge(START, 'ask')
    .addEdge('ask', 'ask');
const app = durable(builder(), { file, guards: { maxDepth: 1_000_000 } });
const deciding = otherName === file ? app : durable(builder(), { file: otherName });
const driving = app.run('r', { asked: 0 }, { wait: true });
for await (const _ of createInterface({ input: process.stdin })) {
  const { before, after }: Answered = answerOpen(internalsOf(deciding).store.db, 'r');
  say(`decided ${before} ${after} ${queuedNs()}`);
}
await driving;

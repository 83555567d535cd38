// Drives runs of one graph over a state file. Arguments: the file, a folder for what the test and this process tell each
// other. Reads commands as JSON lines, answers each with a line: the outcome of a drive, or the code of its error.
// What a node does outside is a line in effects.log, written before the node goes on.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import type { DriverAnswer, DriverCommand, FreezePoint } from './driverProtocol.ts';

const [, , file = '', dir = ''] = process.argv;

const State = Annotation.Root({ id: Annotation<string>(), rounds: Annotation<number>() });

/** Where this process stands still in the run it drives; `null` to drive through. */
let freezeAt: FreezePoint | null = null;
let driving = '';

const effect = (what: string, id: string): void =>
  appendFileSync(join(dir, 'effects.log'), `${what} ${id} ${process.pid}\n`);

/** Stands still, with everything in the process, until the test says that it may go on. */
function freeze(point: FreezePoint): void {
  if (freezeAt !== point) return;
  freezeAt = null;
  writeFileSync(join(dir, `frozen-${driving}`), point);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(join(dir, `thaw-${driving}`))) Atomics.wait(cell, 0, 0, 5);
}

/** How often a node of the run was begun, over all processes. */
function visitsOf(id: string): number {
  const log = join(dir, 'effects.log');
  if (!existsSync(log)) return 0;
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`visit ${id} `)).length;
}

const gated = durable(
  new StateGraph(State)
    .addNode('open', () => ({ rounds: 0 }))
    .addNode('guarded', async ({ id }) => {
      effect('guarded', id);
      await step('call', () => {
        freeze('in a step');
        return 1;
      });
      freeze('before a step');
      await step('second', () => {
        effect('second', id);
        return 2;
      });
      freeze('before the output');
      return { rounds: 1 };
    })
    .addNode('last', ({ id }) => {
      freeze('before a question');
      interrupt(`publish ${id}?`);
      effect('last', id);
      return {};
    })
    .addEdge(START, 'open')
    .addEdge('open', 'guarded')
    // The question beside it is in the file before the run is settled.
    .addNode('beside', () => sleep(50, {}))
    .addEdge('guarded', 'last')
    .addEdge('guarded', 'beside')
    .addEdge('beside', END)
    .addEdge('last', END),
  { file, gates: { guarded: ({ id }) => id } },
);
gated.events.on('NODE_STARTED', ({ node }) => node === 'guarded' && freeze('after the Thought'));
gated.events.on('NODE_FINISHED', ({ node }) => node === 'guarded' && freeze('after the Action'));
gated.events.on('HITL_SESSION_OPENED', () => freeze('after a question'));

/** Goes in circles for ever, and dies where the test planned it. */
const circle = durable(
  new StateGraph(State)
    .addNode('a', ({ id }) => visit(id))
    .addNode('b', ({ id }) => visit(id))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'a'),
  { file, version: 'circle', durability: 'sync' },
);

function visit(id: string): object {
  effect('visit', id);
  if (dyingAt.includes(visitsOf(id))) process.kill(process.pid, 'SIGKILL');
  return {};
}

let dyingAt: readonly number[] = [];

async function answerTo({ run, id, freeze: point, dieAt = [] }: DriverCommand): Promise<DriverAnswer> {
  driving = id;
  freezeAt = point ?? null;
  dyingAt = dieAt;
  const app = run === 'gated' ? gated : circle;
  try {
    const { status, reason, gates } = await app.run(id, { id }, { throwOnFailure: false });
    return { status, reason, gates };
  } catch (error) {
    return { code: (error as { code?: string }).code ?? String(error) };
  }
}

const tell = (message: object): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

tell({ ready: process.pid });
for await (const line of createInterface({ input: process.stdin })) {
  tell(await answerTo(JSON.parse(line) as DriverCommand));
}

// One client of one run, as a process: client.child.ts STACK ACT FOLDER
// The graph is the same for both stacks: draft (a paid call) · gate · publish · gate · announce.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const [stack = '', act = '', folder = ''] = process.argv.slice(2);
const file = join(folder, 'state.sqlite');
const RUN = 'post';
const ADA = { kind: 'human', id: 'ada' } as const;

const Post = Annotation.Root({ draft: Annotation<string>(), log: Annotation<string>() });
type Update = Partial<typeof Post.State>;

/** The world outside keeps its own account. */
const account = (what: string): void => appendFileSync(join(folder, 'account.txt'), `${what}\n`);

async function paidCall(): Promise<string> {
  account('paid call');
  return 'Hello.';
}

/** Long enough for two processes to be in it at once. */
async function publish(): Promise<string> {
  account('published');
  await sleep(300);
  return 'published';
}

function announce(): Update {
  account('announced');
  return { log: 'announced' };
}

/** Death between the answer of a paid call and the end of its node. */
function dieIfAsked(): void {
  if (act === 'start and die') process.kill(process.pid, 'SIGKILL');
}

interface Client {
  start(): Promise<unknown>;
  /** Approves what a person was shown; the same page every time it is called. */
  readPage(): Promise<() => Promise<unknown>>;
}

function plain(): Client {
  const gate = (name: string) => (): Update => {
    interrupt(`Approve "${name}"?`);
    return {};
  };
  const graph = new StateGraph(Post)
    .addNode('write', async () => {
      const draft = await paidCall();
      dieIfAsked();
      return { draft };
    })
    .addNode('gate', gate('publish'))
    .addNode('publish', async () => ({ log: await publish() }))
    .addNode('gate2', gate('announce'))
    .addNode('announce', announce)
    .addEdge(START, 'write')
    .addEdge('write', 'gate')
    .addEdge('gate', 'publish')
    .addEdge('publish', 'gate2')
    .addEdge('gate2', 'announce')
    .addEdge('announce', END)
    .compile({ checkpointer: OfficialSaver.fromConnString(file) });
  const config = { configurable: { thread_id: RUN }, durability: 'sync' } as const;
  return {
    start: async () => graph.invoke((await graph.getState(config)).next.length > 0 ? null : {}, config),
    readPage: async () => () => graph.invoke(new Command({ resume: true }), config),
  };
}

function devs(): Client {
  const builder = new StateGraph(Post)
    .addNode('write', async () => {
      const draft = await step('call', paidCall);
      dieIfAsked();
      return { draft };
    })
    .addNode('publish', async () => ({ log: await step('publish', publish) }))
    .addNode('announce', announce)
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', 'announce')
    .addEdge('announce', END);
  const show = ({ draft }: typeof Post.State): unknown => ({ draft });
  const app = durable(builder, { file, gates: { publish: show, announce: show } });
  return {
    start: () => app.run(RUN, {}),
    readPage: async () => {
      const [gate] = await app.gates(RUN);
      if (gate === undefined) throw new Error('No gate is open.');
      return async () => {
        await app.decide(gate, { approved: true, by: ADA });
        await app.run(RUN);
      };
    },
  };
}

const client = stack === 'devs' ? devs() : plain();
async function approve(page: () => Promise<unknown>): Promise<void> {
  try {
    await page();
    account('approval accepted');
  } catch (error) {
    account(`approval refused: ${(error as { code?: string }).code ?? String(error)}`);
  }
}

if (act.startsWith('start')) await client.start();
if (act === 'approve twice') {
  const page = await client.readPage();
  await approve(page);
  await approve(page);
}
if (act === 'approve at once') {
  const page = await client.readPage();
  writeFileSync(join(folder, `ready-${process.pid}`), '');
  while (!existsSync(join(folder, 'go'))) await sleep(2);
  await approve(page);
}

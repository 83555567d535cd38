import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { EncryptionKey } from '../../src/db/encryptionKey.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { waitFor } from '../../src/engine/node/waitFor.ts';

/** Words that are nowhere else, and that no rule masks. */
export const PLANTED = {
  input: 'walrus in the input',
  state: 'heron in the state',
  step: 'badger in a step',
  signal: 'ferret in a signal',
  gate: 'otter at a gate',
  stream: 'magpie in a stream',
  store: 'marten in the store',
} as const;

const State = Annotation.Root({
  topic: Annotation<string>(),
  found: Annotation<string>(),
  said: Annotation<unknown>(),
  asked: Annotation<string>(),
});

/** A graph that writes every planted word somewhere else, and waits for a signal and at a gate. */
export function plantedGraph() {
  return new StateGraph(State)
    .addNode('work', async (_state, { writer, store }) => {
      writer?.({ told: PLANTED.stream });
      await store?.put(['planted'], 'item', { text: PLANTED.store });
      await step('call', () => PLANTED.step);
      return { found: PLANTED.state, asked: PLANTED.gate, said: await waitFor('told') };
    })
    .addNode('publish', () => ({}))
    .addEdge(START, 'work')
    .addEdge('work', 'publish')
    .addEdge('publish', END);
}

export function plantedApp(file: string, encryptionKey?: EncryptionKey) {
  return durable(plantedGraph(), {
    file,
    store: 'file',
    gates: { publish: ({ asked }) => ({ asked }) },
    ...(encryptionKey !== undefined && { encryptionKey }),
  });
}

/** Runs it until the gate asks. */
export async function plant(app: ReturnType<typeof plantedApp>, id = 'planted'): Promise<void> {
  await app.run(id, { topic: PLANTED.input });
  await app.signal(
    id,
    'told',
    { text: PLANTED.signal },
    {
      by: { kind: 'policy', id: 'bank' },
      signalId: 'told-1',
    },
  );
  await app.run(id);
}

/** Which planted words lie readable in a file, in its log and in the index of that. */
export function readableIn(file: string): readonly string[] {
  const bytes = ['', '-wal', '-shm', '-journal']
    .map((end) => `${file}${end}`)
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path));
  return Object.values(PLANTED).filter((word) => bytes.some((each) => each.includes(word)));
}

export const ALL: readonly string[] = Object.values(PLANTED);
export const newKey = (): Uint8Array => new Uint8Array(randomBytes(32));

import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';
import { sha256 } from '../texts.ts';

const Picture = Annotation.Root({
  name: Annotation<string>(),
  bytes: Annotation<Uint8Array>(),
  base64: Annotation<string>(),
  seen: Annotation<ReadonlyMap<string, Date>>(),
  sums: Annotation<readonly string[]>(),
});

/** Neither a text nor compressible, and with runs of letters and digits in its base64. */
const BYTES = Uint8Array.from({ length: 20_000 }, (_, at) => (at * at * 31 + at * 7) % 251);

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(Picture)
    .addNode('take', async ({ name }) => {
      const base64 = Buffer.from(BYTES).toString('base64');
      return {
        bytes: BYTES,
        base64: await step('take', ({ key }) => ledger.call('take', key, base64)),
        seen: new Map([[name, new Date(86_400_000)]]),
      };
    })
    .addNode('sum', ({ bytes, base64, seen }) => ({
      sums: [sha256(Buffer.from(bytes).toString('hex')), sha256(base64), JSON.stringify([...seen])],
    }))
    .addEdge(START, 'take')
    .addEdge('take', 'sum')
    .addEdge('sum', END);
  const gates = { sum: ({ name }: typeof Picture.State) => ({ name }) };
  return ownRun(durable(builder, { file: stateFileIn(dir), gates }), { name: 'tea.png' }, ({ sums }) => sums);
}

/** Holds bytes, a base64 text, a map and a date over a gate. */
export const exact: StateFileKind = {
  since: '0.1.0-e36ae08',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { approved: true }),
  resumed: {
    answered: ['node_gate'],
    status: 'completed',
    outcome: [
      sha256(Buffer.from(BYTES).toString('hex')),
      sha256(Buffer.from(BYTES).toString('base64')),
      JSON.stringify([['tea.png', new Date(86_400_000)]]),
    ],
  },
  calls: ['take'],
};

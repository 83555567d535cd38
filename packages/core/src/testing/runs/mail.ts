import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../engine/durable.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { sleep, waitFor } from '../../engine/node/waitFor.ts';
import type { RunRelease, Runs } from '../../engine/runs/Runs.ts';

export const ADA = { kind: 'human', id: 'ada' } as const;
export const BOB = { kind: 'human', id: 'bob' } as const;

const Mail = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** What a node of the graph does. */
type MailWork = () => Promise<string> | string;

const WORKS = {
  asks: () => `asked: ${String(interrupt('Send?'))}`,
  listens: async () => {
    const heard = [await waitFor<string>('word'), await waitFor<string>('word')];
    return `heard: ${heard.join(' ')}`;
  },
  sleeps: async () => {
    await sleep(60 * 60 * 1000);
    return 'slept';
  },
  works: () => 'worked',
} satisfies Readonly<Record<string, MailWork>>;

export interface MailOptions {
  readonly approvals?: number;
  readonly version?: string;
  readonly graph?: string;
}

/**
 * An app over `runs`.
 *
 * @param does - What its first node does.
 * @param options - How many have to say yes before the second.
 */
export function mailApp(
  runs: Runs,
  does: keyof typeof WORKS,
  { approvals = 0, version = '1', graph = 'mail' }: MailOptions = {},
) {
  const builder = new StateGraph(Mail)
    .addNode('work', async () => ({ log: [await WORKS[does]()] }))
    .addNode('send', () => ({ log: ['sent'] }))
    .addEdge(START, 'work')
    .addEdge('work', 'send')
    .addEdge('send', END);
  const send = {
    show: () => (approvals > 0 ? 'a mail' : undefined),
    approvals: { of: [ADA.id, BOB.id], count: approvals || 1 },
  };
  return durable(builder, { runs, version, graph, gates: { send } });
}

export type MailApp = ReturnType<typeof mailApp>;

const neverAborted = new AbortController().signal;

/** Holds a run, drives it as a worker does, and lets go of it. */
export async function driveMail(app: Pick<MailApp, 'runs' | 'drive'>, id: string): Promise<RunRelease> {
  if (app.runs === null) throw new TypeError('Expected an app whose runs have a file each.');
  const held = await app.runs.hold(id);
  try {
    for (;;) {
      const end = await app.drive(held, { signal: neverAborted, abort: neverAborted });
      if ((await held.settle(end)) === 'settled') return end;
    }
  } finally {
    await held.close();
  }
}

export const YES = { value: 'yes', by: ADA };

/** A run that waits at its question. */
export async function waitingMail(app: MailApp, id: string): Promise<Gate> {
  await app.start(id, { log: [] });
  await driveMail(app, id);
  return (await app.gates(id))[0] as Gate;
}

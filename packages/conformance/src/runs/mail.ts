import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../../core/src/engine/app/durable.ts';
import type { Gate } from '../../../core/src/engine/gates/Gate.ts';
import { sleep, waitFor } from '../../../core/src/engine/node/waitFor.ts';
import type { RunRelease, RunSignal, Runs } from '../../../core/src/engine/runs/Runs.ts';
import { isDevsError } from '../../../core/src/errors/DevsError.ts';
import type { RunsUnderTest } from './RunsUnderTest.ts';

export const ADA = { kind: 'human', id: 'ada' } as const;
export const BOB = { kind: 'human', id: 'bob' } as const;

const Mail = Annotation.Root({
  log: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** The work of a node of the graph. */
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
 * @param does - The work of its first node.
 * @param options - The number of approvals before the second.
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
      const end = await app.drive(held, { drain: neverAborted, signal: neverAborted });
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

export const LATER: AbortSignal = new AbortController().signal;

export const rejected = (code: string) => (error: unknown) => isDevsError(error) && error.code === code;

export const word = (text: string): RunSignal => ({
  ...{ id: `message:${text}`, kind: 'message', name: 'word', payload: text, by: ADA, signalId: text },
});

/** Sends a signal to a run, as of a new look. */
export async function sendSignal(
  { runs }: Pick<RunsUnderTest, 'runs'>,
  id: string,
  signal: RunSignal,
): Promise<boolean> {
  const looked = await runs.open(id);
  try {
    return await looked.tell(signal);
  } finally {
    looked.close();
  }
}

/** A run that waits at its question, and that question as a decision. */
export async function waitingDecision(
  { runs }: Pick<RunsUnderTest, 'runs'>,
  id: string,
): Promise<RunSignal & { readonly kind: 'decision' }> {
  const app = mailApp(runs, 'asks');
  await app.start(id, { log: [] });
  const { gates } = await driveMail(app, id);
  const { sessionId = '', artifactHash = '' } = gates[0] ?? {};
  const answer = { value: 'yes', by: ADA };
  return { id: `decision:${sessionId}`, kind: 'decision', sessionId, artifactHash, answer, closes: true };
}

/** The state of a waiting run, for the holder that releases it. */
export const STANDS = {
  status: 'waiting',
  reason: null,
  title: null,
  metadata: {},
  tags: [],
  view: null,
  gates: [],
  until: null,
} as const;

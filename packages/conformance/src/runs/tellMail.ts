import type { RunSignal } from '../../../core/src/engine/runs/Runs.ts';
import { isDevsError } from '../../../core/src/errors/DevsError.ts';
import { ADA, driveMail, mailApp } from './mail.ts';
import type { RunsUnderTest } from './RunsUnderTest.ts';

export const LATER: AbortSignal = new AbortController().signal;

export const rejected = (code: string) => (error: unknown) => isDevsError(error) && error.code === code;

export const word = (text: string): RunSignal => ({
  ...{ id: `message:${text}`, kind: 'message', name: 'word', payload: text, by: ADA, signalId: text },
});

/** Tells a run something as of a new look. */
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

/** Where a run stands that waits, for who lets go of it. */
export const STANDS = {
  status: 'waiting',
  reason: null,
  title: null,
  view: null,
  gates: [],
  until: null,
} as const;

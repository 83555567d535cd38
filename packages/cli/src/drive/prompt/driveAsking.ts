import { isDevsError, type PipelineResult, type Run } from '@devs/core';
import { isTerminal, type Session } from '../../project/Session.ts';
import { readerFrom } from '../../show/gatePages.ts';
import { LineReader } from '../../terminal/LineReader.ts';
import { type Person, settleGate } from './settleGate.ts';

export const ASK_HELP = 'do not ask at gates on a terminal; leave the run waiting';

export interface AskFlags {
  /** False to leave a run waiting at its gates. @defaultValue asks, on a terminal */
  readonly ask?: boolean;
  /** Stay until the run has ended: decisions of other processes are taken up at once. */
  readonly wait?: true;
}

/**
 * Drives a run, and asks the person at the terminal whenever it waits for one. Nobody is asked where there is no
 * terminal, in CI, with `--no-ask`, or with `--wait`, which takes decisions from elsewhere.
 *
 * @returns `elsewhere` when another process took the run up after a decision.
 */
export async function driveAsking(
  run: Run,
  drive: () => Promise<PipelineResult>,
  flags: AskFlags,
  session: Session,
): Promise<PipelineResult | 'elsewhere'> {
  const result = await drive();
  const person = canWait(result, session) ? personAt(flags, session) : null;
  if (person === null) return result;
  try {
    return await askUntilLater(run, { drive, first: result }, person, session);
  } finally {
    person.reader.close();
  }
}

async function askUntilLater(
  run: Run,
  { drive, first }: { readonly drive: () => Promise<PipelineResult>; readonly first: PipelineResult },
  person: Person,
  session: Session,
): Promise<PipelineResult | 'elsewhere'> {
  for (let result = first; ; ) {
    const [gate] = result.gates;
    if (gate === undefined || !canWait(result, session)) return result;
    if ((await settleGate({ run, gate }, person, session)) === 'later') return result;
    try {
      result = await drive();
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY')) throw error;
      return 'elsewhere';
    }
  }
}

const canWait = ({ status }: PipelineResult, { io: { signal } }: Session): boolean =>
  status === 'waiting' && !signal.aborted;

function personAt({ ask = true, wait }: AskFlags, session: Session): Person | null {
  const { io } = session;
  if (!ask || wait === true || !isTerminal(session) || (io.env['CI'] ?? '') !== '') return null;
  const by = readerFrom(undefined);
  return by && { by, reader: new LineReader(io) };
}

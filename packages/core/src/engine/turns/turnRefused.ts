import { DevsError } from '../../errors/DevsError.ts';
import type { Thread, ThreadStatus } from '../../state/ThreadStore.ts';

/** The turn that cannot begin. */
export interface AskedTurn {
  readonly threadId: string;
  readonly key: string;
}

/** What the turn before does, and what ends it. */
const UNENDED: Readonly<Partial<Record<ThreadStatus, readonly [does: string, remedy: string]>>> = {
  created: ['has not been executed yet', 'Resume the run by its id alone, or end the turn with cancel()'],
  running: [
    'has not ended',
    'Resume the run by its id alone until the turn ends, or end the turn with cancel()',
  ],
  paused: ['was paused', 'Resume the run by its id alone until the turn ends, or end the turn with cancel()'],
  waiting: [
    'waits',
    'Answer its open gates and resume the run by its id alone, or end the turn with cancel()',
  ],
  dead_letter: [
    'was given up, because its processes kept dying',
    'Revive the run with revive(), then end its turn',
  ],
};

/**
 * A turn begins where the one before has ended.
 *
 * @throws DevsError `INPUT_NOT_TAKEN`
 */
export function assertEnded({ threadId, status }: Thread, { key }: AskedTurn): void {
  const [does, remedy] = UNENDED[status] ?? [];
  if (does === undefined) return;
  throw turnNotTaken(
    { threadId, key },
    `the previous turn ${does}`,
    `${remedy}. Then send this input again.`,
  );
}

export function drivenBy(owner: string, asked: AskedTurn): DevsError {
  const remedy = 'Wait until that process has released the run, then send this input again.';
  return turnNotTaken(asked, `the run is in use by process ${owner}`, remedy);
}

/** What a child was begun for is one thing, and its parent was told of its end. */
export const ofParent = (parentId: string, asked: AskedTurn): DevsError =>
  turnNotTaken(asked, `it is a child of run "${parentId}"`, 'Start a new run with this input.');

/** A run that was begun with a name for its turn has none without. */
export function turnUnnamed(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" has turns, but this input has no turn key.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: 'Send the input with a turn key, or resume the run by its id alone.',
    context: { threadId },
  });
}

/**
 * Without an input, LangGraph goes on with what is there, and a turn would be none.
 *
 * @throws DevsError `INVALID_INPUT`
 */
export function assertTurnInput(input: unknown, { threadId, key }: AskedTurn): void {
  if (input !== undefined && input !== null) return;
  throw new DevsError(`Turn "${key}" of run "${threadId}" is new and has no input.`, {
    code: 'INVALID_INPUT',
    remedy: 'Send the input of the new turn. To continue the current turn, resume the run by its id alone.',
    context: { threadId, turn: key },
  });
}

/** The state of a run outlives its graph only by names that both have. */
export function wouldLose(channels: readonly string[], { threadId, key }: AskedTurn): DevsError {
  const changes = channels.map((name) => `channel "${name}" is gone`).join('; ');
  return new DevsError(
    `Turn "${key}" cannot start, because the graph of run "${threadId}" has changed: ${changes}.`,
    {
      code: 'GRAPH_CHANGED',
      remedy: 'Keep these channels in the state of the graph, or start a new run.',
      context: { threadId, changes },
    },
  );
}

function turnNotTaken({ threadId, key }: AskedTurn, why: string, remedy: string): DevsError {
  return new DevsError(`Turn "${key}" of run "${threadId}" cannot start: ${why}.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy,
    context: { threadId, turn: key },
  });
}

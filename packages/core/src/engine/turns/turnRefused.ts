import { DevsError } from '../../errors/DevsError.ts';
import type { Thread, ThreadStatus } from '../../state/ThreadStore.ts';

/** The turn that cannot begin. */
export interface AskedTurn {
  readonly threadId: string;
  readonly key: string;
}

/** What the turn before does, and what ends it. */
const UNENDED: Readonly<Partial<Record<ThreadStatus, readonly [does: string, remedy: string]>>> = {
  created: ['has not been driven yet', 'Drive it by the id of the run alone, or end it with cancel()'],
  running: ['is not at its end', 'Drive it to its end by the id of the run alone, or end it with cancel()'],
  paused: ['was paused', 'Drive it to its end by the id of the run alone, or end it with cancel()'],
  waiting: [
    'waits',
    'Answer what it waits for and drive the run by its id alone, or end the turn with cancel()',
  ],
  dead_letter: [
    'was given up, because its drivers kept dying',
    'Bring the run back with revive(), then end its turn',
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
  throw notTaken({ threadId, key }, `the turn before ${does}`, `${remedy}; then give this input again.`);
}

export function drivenBy(owner: string, asked: AskedTurn): DevsError {
  const remedy = 'Wait until that process has let go of the run; then give this input again.';
  return notTaken(asked, `process ${owner} holds the run`, remedy);
}

/** What a child was begun for is one thing, and its parent was told of its end. */
export const ofParent = (parentId: string, asked: AskedTurn): DevsError =>
  notTaken(asked, `it is a child of run "${parentId}"`, 'Begin another run with this input.');

/** A run that was begun with a name for its turn has none without. */
export function unnamed(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" has turns, and this input names none.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: 'Give the input with the key of its turn, or go on with the run by its id alone.',
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
  throw new DevsError(`Turn "${key}" of run "${threadId}" is new and was given no input.`, {
    code: 'INVALID_INPUT',
    remedy:
      'Give a new turn its input; go on with the turn that the run stands in by the id of the run alone.',
    context: { threadId, turn: key },
  });
}

/** The state of a run outlives its graph only by names that both have. */
export function wouldLose(channels: readonly string[], { threadId, key }: AskedTurn): DevsError {
  const changes = channels.map((name) => `channel "${name}" is gone`).join('; ');
  return new DevsError(`Turn "${key}" would begin on another graph than run "${threadId}" has: ${changes}.`, {
    code: 'GRAPH_CHANGED',
    remedy: 'Keep what the run has in these channels in the state of the graph, or begin another run.',
    context: { threadId, changes },
  });
}

function notTaken({ threadId, key }: AskedTurn, why: string, remedy: string): DevsError {
  return new DevsError(`Turn "${key}" of run "${threadId}" cannot begin: ${why}.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy,
    context: { threadId, turn: key },
  });
}

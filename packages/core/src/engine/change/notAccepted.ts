import { DevsError } from '../../errors/DevsError.ts';

/** Why a changed graph cannot be accepted for a run as it was declared. */
export type NotAcceptedReason =
  /** The run is older than the record of its graph's names. */
  | 'not_recorded'
  /** The run has ended. */
  | 'ended'
  /** A declared old name was never there. */
  | 'unknown_name'
  /** An old name is gone, and nothing says what became of it. */
  | 'undeclared'
  /** The new name does not exist. */
  | 'unknown_target'
  /** Two old names became one. */
  | 'ambiguous'
  /** What the run is about to do, the new graph cannot do. */
  | 'pending_visit'
  /** A question that is open or answered would not be asked in the same place. */
  | 'gate_changed'
  /** A step was begun and has no result: its idempotency key would change. */
  | 'call_in_flight';

/** A refusal of `acceptGraph`: nothing was written. */
export function notAccepted(threadId: string, reason: NotAcceptedReason, why: string): DevsError {
  return new DevsError(`Run "${threadId}" cannot continue with this graph: ${why}.`, {
    code: 'GRAPH_NOT_ACCEPTED',
    remedy: REMEDIES[reason],
    context: { threadId, reason },
  });
}

const FINISH_WITH_OLD =
  'Finish this node with the version of the program that started the run, then accept the graph.';
const CORRECT = 'Correct the declaration, then accept the graph again.';

const REMEDIES: Readonly<Record<NotAcceptedReason, string>> = {
  not_recorded: 'Resume the run with the version of the program that started it, or start a new run.',
  ended: 'Start a new run.',
  unknown_name: CORRECT,
  undeclared: 'Declare it as renamed or as removed.',
  unknown_target: CORRECT,
  ambiguous: CORRECT,
  pending_visit: FINISH_WITH_OLD,
  gate_changed: FINISH_WITH_OLD,
  call_in_flight:
    'Resume the run with the version of the program that started it until it waits or pauses, then accept the graph.',
};

import { DevsError } from '../../errors/DevsError.ts';

/** Reasons to refuse a transfer. */
export type TransferRefusal =
  /** A node has yet to take an answer. */
  | 'answer_pending'
  /** It holds values of a channel that the graph lacks. */
  | 'channel_missing'
  /** It waits in a node before which this app has a gate. */
  | 'gate_declared'
  /** Its graph throws where its state is read. */
  | 'graph_throws'
  /** It changes while it is read. */
  | 'in_use'
  /** LangGraph cannot answer its question. */
  | 'interrupt_without_id'
  /** The run has gone on since it was imported. */
  | 'moved_on_here'
  /** The thread has gone on in the other store. */
  | 'moved_on_there'
  /** Its input is not in a checkpoint yet. */
  | 'not_begun'
  /** It stands at a node that the graph lacks, or that is called otherwise. */
  | 'node_missing'
  /** Only this engine ends its wait: a gate of the app, a timer, a signal, a child run. */
  | 'waits_for_engine'
  /** The versions of its channels are not numbers. */
  | 'versions_unknown';

const OF_EXPORT: Partial<Record<TransferRefusal, string>> = {
  answer_pending: 'Resume the run, then export it.',
  moved_on_there: 'Delete the thread there to replace it, or leave the run here.',
};

const REMEDIES: Readonly<Record<TransferRefusal, string>> = {
  answer_pending: 'Resume it where it is until the answer is taken, then try again.',
  channel_missing:
    'Give the graph the channel, or declare the channel in graphChanges.removed to leave its values behind.',
  gate_declared: 'Take the gate out of the gates of the app until the thread is past this node.',
  graph_throws: 'Find out why the graph throws (see the cause), or continue the thread with plain LangGraph.',
  in_use: 'Stop the process that runs the thread, then try again.',
  interrupt_without_id: 'Continue the thread with plain LangGraph until it waits in a node.',
  moved_on_here:
    'Continue the run here and leave the other thread as it is. To take the other one instead, delete the run here first.',
  moved_on_there:
    'Decide which of the two goes on: delete the run here and import the thread again, or leave the other thread as it is.',
  node_missing: 'Import it with an app that has the node under its old name.',
  not_begun: 'Resume the run until it waits or has ended, then export it.',
  waits_for_engine: 'Answer it here and resume the run until it waits at an interrupt() of its own.',
  versions_unknown: 'Continue the thread with the program that wrote it.',
};

export interface Refused {
  readonly deed: 'imported' | 'exported';
  readonly threadId: string;
  readonly reason: TransferRefusal;
  /** A clause: `node "publish" is not in the graph`. */
  readonly why: string;
  readonly cause?: unknown;
}

export function transferRefused({ deed, threadId, reason, why, cause }: Refused): DevsError {
  const subject = deed === 'exported' ? 'Run' : 'Thread';
  return new DevsError(`${subject} "${threadId}" was not ${deed}: ${why}.`, {
    code: 'TRANSFER_REFUSED',
    remedy: (deed === 'exported' ? OF_EXPORT[reason] : undefined) ?? REMEDIES[reason],
    context: { threadId, reason },
    ...(cause !== undefined && { cause }),
  });
}

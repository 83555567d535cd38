import { DevsError } from '../../errors/DevsError.ts';

const WHY = {
  trimmed: 'the next event of its stream was deleted',
  pruned: 'the checkpoint with the next event of its stream was pruned',
  ahead: 'its stream has fewer events',
  'not recorded': 'its stream was not recorded',
} as const;

/** @param why - What became of the event that is to be read next. */
export function notKept(
  threadId: string,
  why: keyof typeof WHY,
  context: { readonly seq?: number; readonly first?: number },
): DevsError {
  return new DevsError(`Run "${threadId}" cannot be streamed from this position: ${WHY[why]}.`, {
    code: 'STREAM_NOT_KEPT',
    remedy:
      'Read the current state with values() and gates(), then stream without `after`. Or keep more events.',
    context: { threadId, why, ...context },
  });
}

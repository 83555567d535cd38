import { DevsError } from '../../errors/DevsError.ts';

const WHY = {
  trimmed: 'the next event of its stream is no longer kept',
  pruned: 'the checkpoint that the next event of its stream is in was pruned',
  ahead: 'its stream has not come that far',
  'not recorded': 'its stream was not recorded',
} as const;

/** @param why - What became of the event that is to be read next. */
export function notKept(
  threadId: string,
  why: keyof typeof WHY,
  context: { readonly seq?: number; readonly first?: number },
): DevsError {
  return new DevsError(`Run "${threadId}" cannot be streamed from there: ${WHY[why]}.`, {
    code: 'STREAM_NOT_KEPT',
    remedy:
      'Read where the run stands with values() and gates(), then stream it without after; or keep more events.',
    context: { threadId, why, ...context },
  });
}

import type { PipelineRunInfo } from '@devs/core';

const STATES: Readonly<Record<PipelineRunInfo['rewinds'][number]['state'], string>> = {
  done: '',
  undone: '; undone since',
  unfinished: '; files are updated at the next resume',
};

/** One time a run was set back, in words. */
export function formatRewind({
  target,
  undone,
  principal,
  reason,
  at,
  state,
}: PipelineRunInfo['rewinds'][number]): string {
  const when = `${at.slice(0, 19).replace('T', ' ')}Z`;
  const why = reason === null ? '' : `: ${reason}`;
  return `to ${target} by ${principal}, ${when}${why}; undone: ${undone.join(', ')}${STATES[state]}`;
}

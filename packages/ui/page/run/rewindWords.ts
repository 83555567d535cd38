import type { PipelineRunInfo } from '@devs/core';
import type { RewindAnswer, RewindWish } from '../../src/views/rewindView.ts';

type Plan = NonNullable<RewindAnswer['plan']>;

/** `to the end of T2`: as the command line says it. */
export const whereTo = ({ target: { label, status } }: Plan): string =>
  `to the ${status === 'completed' ? 'end' : 'beginning'} of ${label}`;

const HELD = {
  no: 'follows',
  checked_out: 'is left as it is: it is checked out',
  changed: 'is left as it is: it has commits that are not of the run',
} as const;

/** What was done, in the words of the command line. */
export function doneWords(
  { plan, done }: RewindAnswer,
  way: RewindWish['way'],
  run: string,
): readonly string[] {
  if (done === null) return ['nothing was begun after it'];
  const { commit, kept, delivery } = done;
  return [
    plan === null
      ? 'the last rewind was undone'
      : `set back ${whereTo(plan)}, undone: ${plan.undone.map(({ label }) => label).join(', ')}`,
    ...(commit === null
      ? []
      : [`the branch of the run is at ${commit.slice(0, 7)}; nothing left its history`]),
    ...(kept === null ? [] : [`what lay uncommitted is kept; in the folder of the run: git show ${kept}`]),
    ...(delivery === null ? [] : [`${delivery.branch} in your repository ${HELD[delivery.held ?? 'no']}`]),
    way === 'undo' ? `devs resume ${run} goes on` : `devs resume ${run} does them anew`,
  ];
}

/** The last rewind, if it can be taken back as far as can be told here. */
export function lastRewind(
  rewinds: readonly PipelineRunInfo['rewinds'][number][],
): PipelineRunInfo['rewinds'][number] | null {
  const last = rewinds.at(-1);
  return last?.state === 'done' ? last : null;
}

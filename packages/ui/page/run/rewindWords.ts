import type { PipelineRunInfo } from '@devs/core';
import type { RewindAnswer, RewindWish } from '../../src/views/rewindView.ts';

type RewindPlanView = NonNullable<RewindAnswer['plan']>;

/** `to the end of T2`: as the command line says it. */
export const formatRewindTarget = ({ target: { label, status } }: RewindPlanView): string =>
  `to the ${status === 'completed' ? 'end' : 'start'} of ${label}`;

const HELD = {
  no: 'is up to date',
  checked_out: 'was not updated: you have it checked out',
  changed: 'was not updated: it has your own commits',
} as const;

/** What was done, in the words of the command line. */
export function formatRewindResult(
  { plan, done }: RewindAnswer,
  way: RewindWish['way'],
  run: string,
): readonly string[] {
  if (done === null) return ['no task was started after it'];
  const { commit, kept, delivery } = done;
  return [
    plan === null
      ? 'rewind undone'
      : `rewound ${formatRewindTarget(plan)}, undone: ${plan.undone.map(({ label }) => label).join(', ')}`,
    ...(commit === null
      ? []
      : [`the branch of the run is at ${commit.slice(0, 7)}; its history is complete`]),
    ...(kept === null
      ? []
      : [`uncommitted changes were saved; to see them in the run's folder: git show ${kept}`]),
    ...(delivery === null ? [] : [`${delivery.branch} in your repository ${HELD[delivery.held ?? 'no']}`]),
    way === 'undo' ? `to resume: devs resume ${run}` : `to redo them: devs resume ${run}`,
  ];
}

/** The last rewind, if it can be taken back as far as can be told here. */
export function lastRewind(
  rewinds: readonly PipelineRunInfo['rewinds'][number][],
): PipelineRunInfo['rewinds'][number] | null {
  const last = rewinds.at(-1);
  return last?.state === 'done' ? last : null;
}

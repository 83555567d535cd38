import type { Principal, Run } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { UiError } from '../http/errors.ts';

/** What of a run is needed to set it back. */
export type RewindableRun = Pick<Run, 'previewRewind' | 'rewind' | 'undoRewind'>;

/** Opens a run with what it was started with, for one piece of work. */
export type WithRewindable = <T>(run: string, work: (run: RewindableRun) => Promise<T>) => Promise<T>;

/** What a person wants: `back` carries what they were told is undone. */
export type RewindWish =
  | { readonly way: 'preview'; readonly task: string }
  | {
      readonly way: 'back';
      readonly task: string;
      readonly undone: readonly string[];
      readonly reason?: string;
    }
  | { readonly way: 'undo'; readonly reason?: string };

export interface RewindAnswer {
  /** What stays, and what would go or went; `null` where nothing was begun after the task, and of an undo. */
  readonly plan: Awaited<ReturnType<Run['previewRewind']>>;
  /** What became of the files; `null` of a preview. */
  readonly done: {
    readonly commit: string | null;
    /** Where to find what lay uncommitted in the folder. */
    readonly kept: string | null;
    readonly delivery: WorkspacePort.Delivery | null;
  } | null;
}

/** @throws DevsError as `Run.rewind`; UiError where another thing would be undone than the person was told. */
export async function rewindView(run: RewindableRun, wish: RewindWish, by: Principal): Promise<RewindAnswer> {
  if (wish.way === 'preview') return { plan: await run.previewRewind(wish.task), done: null };
  const request = { by, ...(wish.reason !== undefined && { reason: wish.reason }) };
  if (wish.way === 'undo') return { plan: null, done: filesOf(await run.undoRewind(request)) };
  await assertTold(run, wish);
  const rewound = await run.rewind(wish.task, request);
  return rewound === null
    ? { plan: null, done: null }
    : { plan: { target: rewound.target, undone: rewound.undone }, done: filesOf(rewound) };
}

/** A run may have gone on since its picture was looked at. */
async function assertTold(
  run: RewindableRun,
  { task, undone }: Extract<RewindWish, { readonly way: 'back' }>,
): Promise<void> {
  const plan = await run.previewRewind(task);
  const now = (plan?.undone ?? []).map(({ label }) => label);
  if (now.length === undone.length && now.every((label) => undone.includes(label))) return;
  throw new UiError(409, {
    code: 'REWIND_MOVED',
    message: `The run has changed: this rewind would now undo ${now.length === 0 ? 'no task' : now.join(', ')}.`,
    remedy: 'Check the plan again, then decide.',
  });
}

const filesOf = ({
  commit,
  kept,
  delivery,
}: Pick<NonNullable<Awaited<ReturnType<Run['rewind']>>>, 'commit' | 'kept' | 'delivery'>) => ({
  ...{ commit, delivery },
  kept: kept?.ref ?? null,
});

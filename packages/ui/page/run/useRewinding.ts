import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ErrorView } from '../../src/http/errors.ts';
import type { RewindAnswer, RewindWish } from '../../src/views/rewindView.ts';
import type { PlannedTask, RunView } from '../../src/views/runView.ts';
import { post, runPath } from '../api.ts';
import { load, me, toErrorView } from '../state.ts';
import { formatRewindResult } from './rewindWords.ts';

/** A rewind: the selected task, its effects, and the result. */
export interface Rewinding {
  /** Id of a task; in the picture, the list and the panel. */
  readonly selected: ReadonlySignal<string | null>;
  /** The effects, as the person sees them; `null` before. */
  readonly plan: ReadonlySignal<RewindAnswer['plan']>;
  readonly isSending: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<ErrorView | null>;
  /** The result in words. */
  readonly told: ReadonlySignal<readonly string[]>;
  /** Selects a task and asks for the effects of a rewind to it; a second time deselects it. */
  readonly choose: (taskId: string | null) => void;
  readonly send: (wish: RewindWish) => Promise<void>;
}

/** Rewinds need the right to decide, and a run that is not driven. */
export const canRewind = ({ driver }: Pick<RunView, 'driver'>): boolean =>
  driver === null && me.value?.isReadOnly === false;

/** A task of which the run can go back to the end, or to the start. */
export const isBegun = ({ status }: PlannedTask): boolean => status !== 'pending';

export function useRewinding(run: RunView): Rewinding {
  const selected = useSignal<string | null>(null);
  const plan = useSignal<RewindAnswer['plan']>(null);
  const told = useSignal<readonly string[]>([]);
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const asked = useRef(0);
  const take = async (wish: RewindWish): Promise<void> => {
    asked.current += 1;
    const own = asked.current;
    const answer = await post<RewindAnswer>(`${runPath(run.id)}/rewind`, wish);
    // Another task was chosen meanwhile.
    if (own !== asked.current) return;
    const isToDecide = wish.way === 'preview' && answer.plan !== null;
    plan.value = isToDecide ? answer.plan : null;
    told.value = isToDecide ? [] : formatRewindResult(answer, wish.way, run.id);
    if (wish.way === 'preview') return;
    selected.value = null;
    await load();
  };
  const send = async (wish: RewindWish): Promise<void> => {
    isSending.value = true;
    error.value = await take(wish).then(
      () => null,
      (failure: unknown) => toErrorView(failure),
    );
    isSending.value = false;
  };
  const choose = (taskId: string | null): void => {
    asked.current += 1;
    plan.value = null;
    told.value = [];
    selected.value = taskId === selected.value ? null : taskId;
    const task = run.tasks.find((each) => each.taskId === selected.value);
    if (task !== undefined && isBegun(task) && canRewind(run))
      void send({ way: 'preview', task: task.label });
  };
  return { selected, plan, told, error, isSending, choose, send };
}

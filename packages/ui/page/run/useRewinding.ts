import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { ErrorView } from '../../src/http/errors.ts';
import type { RewindAnswer, RewindWish } from '../../src/views/rewindView.ts';
import { post } from '../api.ts';
import { runPath } from '../apiPath.ts';
import { load, toErrorView } from '../state.ts';
import { formatRewindResult } from './rewindWords.ts';

/** Setting a run back: what was asked last, and what came of it. */
export interface Rewinding {
  readonly isSending: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<ErrorView | null>;
  /** What was done, in words. */
  readonly told: ReadonlySignal<readonly string[]>;
  readonly send: (wish: RewindWish) => Promise<void>;
}

/** @param onPreview - Told what would be undone; `null` once nothing is about to be. */
export function useRewinding(run: string, onPreview: (plan: RewindAnswer['plan']) => void): Rewinding {
  const told = useSignal<readonly string[]>([]);
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const take = async (wish: RewindWish): Promise<void> => {
    const answer = await post<RewindAnswer>(`${runPath(run)}/rewind`, wish);
    const isToDecide = wish.way === 'preview' && answer.plan !== null;
    onPreview(isToDecide ? answer.plan : null);
    told.value = isToDecide ? [] : formatRewindResult(answer, wish.way, run);
    if (wish.way !== 'preview') await load();
  };
  const send = async (wish: RewindWish): Promise<void> => {
    isSending.value = true;
    error.value = await take(wish).then(
      () => null,
      (failure: unknown) => toErrorView(failure),
    );
    isSending.value = false;
  };
  return { told, error, isSending, send };
}

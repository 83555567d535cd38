// Going on with runs from the page.
import { signal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import { post, runPath } from './api.ts';
import { load, me, toErrorView } from './state.ts';

/** Asks the server to execute a run. @throws ApiError */
export async function drive(run: string): Promise<void> {
  await post(`${runPath(run)}/drive`, {});
  await load();
}

/** As {@link drive}, after a decision: a run that somebody executes already takes it up by itself. */
export async function goOnAfterDecision(run: string): Promise<void> {
  await drive(run).catch((failure: unknown) => {
    const error = toErrorView(failure);
    notGoneOn.value = error.code === 'THREAD_BUSY' ? null : { run, error };
  });
}

/** Why the run of the last decision was not gone on with. */
export const notGoneOn = signal<{ readonly run: string; readonly error: ErrorView } | null>(null);

const nameOf = (): string => `devs-goes-on ${me.value?.by.id ?? ''}`;

/** Whether runs go on by themselves after this person's decisions on this page. */
export const goesOn = (): boolean => me.value?.canDrive === true && localStorage.getItem(nameOf()) === 'yes';

export const setGoesOn = (isOn: boolean): void => localStorage.setItem(nameOf(), isOn ? 'yes' : 'no');

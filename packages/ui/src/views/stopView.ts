import type { PipelineRunInfo, Principal, Run } from '@devs/core';
import { UiError } from '../http/errors.ts';

/** The methods of a run that stop it. */
export type StoppableRun = Pick<Run, 'status' | 'pause' | 'cancel'>;

/** `abort`: a pause that aborts calls in flight. */
export type Stop = NonNullable<PipelineRunInfo['stopping']>['stop'];

type Standing = Pick<PipelineRunInfo, 'status' | 'driver' | 'stopping'>;

/** The status of a run after a request to stop. */
export type StopAnswer = Standing;

const DEED: Readonly<Record<Stop, string>> = { pause: 'paused', abort: 'stopped', cancel: 'cancelled' };

/** Words for a run that has ended for good. */
const OVER: Partial<Readonly<Record<PipelineRunInfo['status'], string>>> = {
  completed: 'completed',
  cancelled: 'cancelled',
  dead_letter: 'a dead letter',
};

/** Requests that a run takes now. After one request, it takes only stronger ones. */
export function stopsOf({ status, driver, stopping }: Standing): readonly Stop[] {
  if (OVER[status] !== undefined || stopping?.stop === 'cancel') return [];
  const isAtWork = status === 'running' || status === 'created';
  return [
    ...(isAtWork && stopping === null ? (['pause'] as const) : []),
    ...(driver !== null && stopping?.stop !== 'abort' ? (['abort'] as const) : []),
    'cancel',
  ];
}

/**
 * Asks a run to stop, in a person's name.
 *
 * @throws UiError `STOP_REFUSED` if its status does not allow it, or it has ended or received another request meanwhile.
 * @throws DevsError as `Run.pause` and `Run.cancel`.
 */
export async function stopRun(run: StoppableRun, stop: Stop, by: Principal): Promise<StopAnswer> {
  const before = await run.status();
  if (!stopsOf(before).includes(stop)) throw refused(before, stop);
  const { isAccepted } = await (stop === 'cancel'
    ? run.cancel({ by })
    : run.pause({ abort: stop === 'abort', by }));
  const { status, driver, stopping } = await run.status();
  const hasEnded = !isAccepted || OVER[status] !== undefined;
  const isOvertaken = hasEnded ? !(stop === 'cancel' && status === 'cancelled') : isOther(stopping, stop);
  if (isOvertaken) throw refused({ status, driver, stopping }, stop);
  return { status, driver, stopping };
}

const isOther = (stopping: Standing['stopping'], stop: Stop): boolean =>
  stopping !== null && stopping.stop !== stop;

function refused({ status, stopping }: Standing, stop: Stop): UiError {
  const [why, remedy] = reasonOf({ status, stopping }, stop);
  const message = `The run cannot be ${DEED[stop]}: ${why}.`;
  return new UiError(409, { code: 'STOP_REFUSED', message, remedy });
}

function reasonOf(
  { status, stopping }: Pick<Standing, 'status' | 'stopping'>,
  stop: Stop,
): readonly [why: string, remedy: string] {
  const end = OVER[status];
  if (end !== undefined) return [`it is already ${end}`, 'Reload the page to see how it ended.'];
  if (stopping !== null) {
    return [
      `${stopping.principal ?? 'somebody'} has already asked that it is ${DEED[stopping.stop]}`,
      'Wait until the process that runs it has followed that request.',
    ];
  }
  const way = stop === 'abort' ? 'no process runs it' : `it is ${status}, so nothing is in progress`;
  return [way, 'To end it for good, cancel the run.'];
}

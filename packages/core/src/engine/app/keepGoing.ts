import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from '../../db/busy.ts';

/** After an error, ms. */
const PAUSE_MS = 1_000;

/**
 * Repeats work beside the runs until `signal` is aborted. An error is a warning of the process, once, and the work begins again. Does
 * not reject.
 *
 * @param name - In the warning: `webhooks`.
 */
export async function keepGoing(name: string, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let told = '';
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      const telling = `${name}: ${String(error)}`;
      if (!signal.aborted && !isBusy(error) && telling !== told)
        process.emitWarning(telling, 'DevsWorkWarning');
      told = telling;
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

import type { ServedApp } from './ServedApp.ts';

/** Executes the runs of apps until it is stopped. */
export interface Workers {
  /** Waits until the runs in hand have stopped at a safe point. */
  stop(): Promise<void>;
}

/** @throws TypeError for an app of a cluster, where workers execute the runs. */
export function startWorkers(apps: readonly ServedApp[]): Workers {
  const elsewhere = apps.some(({ runs }) => runs !== null);
  if (elsewhere)
    throw new TypeError(
      'createServer: `work` is for apps of one state file. Start `devs worker` for the others.',
    );
  const stopping = new AbortController();
  const working = apps.map((app) =>
    app.work({ signal: stopping.signal }).catch((error: unknown) => {
      process.emitWarning(`The server executes no runs any more: ${String(error)}`, 'DevsServerWarning');
    }),
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(working);
    },
  };
}

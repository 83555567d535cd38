import { EXIT, type ExitCode } from '../../exitCodes.ts';
import type { Session } from '../../project/Session.ts';
import type { FileApp } from '../../project/workerApps.ts';
import { usageError } from '../../usageError.ts';

interface FileWork {
  /** Runs of each app at the same time. */
  readonly slots: number;
  readonly drainMs: number;
  readonly healthPort: number | undefined;
}

/**
 * Executes runs of state files until the process is stopped. At the first signal runs stop at their next safe point; after `drainMs`, or at the second
 * signal, calls in flight are ended.
 *
 * @throws DevsError `CONFIG_INVALID` for a health port; the errors of `work`.
 */
export async function workFiles(
  apps: readonly FileApp[],
  { slots, drainMs, healthPort }: FileWork,
  session: Session,
): Promise<ExitCode> {
  if (healthPort !== undefined)
    throw usageError('--health-port needs runs in a cluster.', 'Omit it: watch the process itself.');
  const { io, out } = session;
  io.drainsAlone?.();
  const [abort, fault] = [new AbortController(), new AbortController()];
  const stop = AbortSignal.any([io.signal, fault.signal]);
  const end = (): void => abort.abort();
  io.abort?.addEventListener('abort', end);
  let timer: NodeJS.Timeout | undefined;
  const drain = (): void => {
    out.item({ is: 'draining' }, ['draining: runs stop at their next safe point']);
    timer = setTimeout(end, io.abort?.aborted === true ? 0 : drainMs);
  };
  io.signal.addEventListener('abort', drain, { once: true });
  printStarted(apps, slots, session);
  const tell = reportTo(session);
  const works = apps.map((app) =>
    app.work({ concurrency: slots, signal: stop, abort: abort.signal, ...tell }).finally(() => fault.abort()),
  );
  try {
    if (io.signal.aborted) drain();
    await Promise.allSettled(works);
    await Promise.all(works);
  } finally {
    clearTimeout(timer);
    io.signal.removeEventListener('abort', drain);
    io.abort?.removeEventListener('abort', end);
  }
  out.item({ is: 'stopped' }, ['stopped']);
  return EXIT.ok;
}

function printStarted(apps: readonly FileApp[], slots: number, { out }: Session): void {
  const graphs = apps.map(({ queue }) => queue);
  const names = graphs.map(({ graph, fingerprint }) =>
    graph === '' ? fingerprint.slice(0, 8) : `${graph} (${fingerprint.slice(0, 8)})`,
  );
  out.item({ is: 'started', slots, graphs }, [
    `executing ${names.join(', ')} in ${slots} slots; press Ctrl-C to drain`,
  ]);
}

/** In the words of a cluster's worker. */
const reportTo = ({
  out,
}: Session): Pick<NonNullable<Parameters<FileApp['work']>[0]>, 'onRun' | 'onError'> => ({
  onRun: ({ id, status }) =>
    out.item({ is: 'settled', threadId: id, runId: id, status }, [`${id}: settled (${status})`]),
  onError: (given, id) => {
    const error = String(given);
    out.item({ is: 'failed', threadId: id, runId: id, error }, [`${id}: failed: ${error}`]);
  },
});

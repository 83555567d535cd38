import { once } from 'node:events';
import type { RunDriver } from '@devs/core/internal';
import type { PostgresRuns, Worker, WorkerEvent } from '@devs/postgres';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import type { Session } from '../../project/Session.ts';

interface RunsWork {
  readonly slots: number;
  readonly drainMs: number;
  readonly healthPort: number | undefined;
  readonly build: string | undefined;
}

/** Executes runs of a cluster until the process is stopped, as `workFiles` does those of state files. */
export async function workRuns(
  { apps, runs }: { readonly apps: readonly RunDriver[]; readonly runs: PostgresRuns },
  { slots, drainMs, healthPort, build }: RunsWork,
  session: Session,
): Promise<ExitCode> {
  try {
    const onEvent = (event: WorkerEvent): void => printEvent(event, session);
    const { signal, drainsAlone } = session.io;
    drainsAlone?.();
    const worker = await runs.work({ drivers: apps, slots, healthPort, build, onEvent, signal });
    printStarted(worker, apps, session);
    return await untilStopped(worker, drainMs, session);
  } catch (error) {
    // It was stopped while it waited for PostgreSQL.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    sayStopped(0, session);
    return EXIT.ok;
  }
}

/** At the first signal it drains, at the second one it ends at once. */
async function untilStopped(worker: Worker, drainMs: number, session: Session): Promise<ExitCode> {
  const { io, out } = session;
  if (!io.signal.aborted) await once(io.signal, 'abort');
  out.item({ is: 'draining', runs: worker.busy }, [
    `draining: ${worker.busy} runs stop at their next safe point`,
  ]);
  const isHurried = io.abort?.aborted === true;
  const cutOff = (): void => worker.cutOff();
  io.abort?.addEventListener('abort', cutOff);
  const left = await worker.stop({ drainMs: isHurried ? 0 : drainMs });
  io.abort?.removeEventListener('abort', cutOff);
  sayStopped(left, session);
  return left === 0 ? EXIT.ok : EXIT.resumable;
}

function sayStopped(left: number, { out }: Session): void {
  const words = left === 0 ? 'stopped' : `stopped; ${left} runs were interrupted and can be resumed`;
  out.item({ is: 'stopped', left }, [words]);
}

function printStarted(worker: Worker, apps: readonly Pick<RunDriver, 'queue'>[], { out }: Session): void {
  const { slots, healthPort } = worker;
  const graphs = apps.map(({ queue }) => queue);
  const names = graphs.map(({ graph, fingerprint }) => `${graph} (${fingerprint.slice(0, 8)})`).join(', ');
  out.item({ is: 'started', slots, healthPort, graphs }, [
    `executing ${names} in ${slots} slots; press Ctrl-C to drain`,
    ...(healthPort === null ? [] : [`health on port ${healthPort}`]),
  ]);
}

/** Words for events with another name. */
const WORDS: Partial<Record<WorkerEvent['is'], string>> = {
  waiting: 'waiting for PostgreSQL',
  away: 'PostgreSQL is unreachable',
};

function printEvent(event: WorkerEvent, { out }: Session): void {
  const error = 'error' in event ? String(event.error) : null;
  const { is } = event;
  const run = 'threadId' in event ? `${event.threadId}: ` : '';
  // As of scripts from before everything that belongs to a run named it `threadId`.
  const known = 'threadId' in event ? { runId: event.threadId } : {};
  const more = event.is === 'settled' ? ` (${event.status})` : error === null ? '' : `: ${error}`;
  const words = WORDS[is] ?? is;
  out.item({ ...event, ...known, ...(error !== null && { error }) }, [`${run}${words}${more}`]);
}

import { once } from 'node:events';
import path from 'node:path';
import type { Worker, WorkerEvent } from '@devs/postgres';
import type { Command, CommandOptions } from 'commander';
import { type ClusterApp, loadApps } from '../../cluster/loadApps.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import type { Session } from '../../project/Session.ts';
import { examples, type Start } from '../../project/Start.ts';
import { usageError } from '../../usageError.ts';

interface WorkerFlags {
  readonly slots: string;
  readonly healthPort?: string;
  readonly drainMs: string;
}

/** Below the 30 s that Kubernetes waits. */
const DRAIN_MS = '25000';

export function addWorker(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('worker', options)
    .description('drive the runs of your graphs in a cluster, until it is told to stop')
    .argument('<module>', 'JavaScript file that exports an app over postgres(…), as default, app or apps')
    .option('--slots <number>', 'runs at the same time', '10')
    .option('--health-port <number>', 'serve /livez, /readyz and /metrics there (default: nowhere)')
    .option('--drain-ms <number>', 'after SIGTERM, how long calls in flight may take, ms', DRAIN_MS)
    .addHelpText(
      'after',
      examples(
        'devs worker ./app.js',
        'devs worker ./app.js --slots 20 --health-port 8080',
        'devs worker ./app.js --drain-ms 5000 --json',
      ),
    )
    .action((file: string, flags: WorkerFlags, command: Command) =>
      start(command, (session) => work(file, flags, session)),
    );
}

async function work(file: string, flags: WorkerFlags, session: Session): Promise<ExitCode> {
  const slots = toNumber('--slots', flags.slots, 1);
  const drainMs = toNumber('--drain-ms', flags.drainMs, 0);
  const healthPort = flags.healthPort === undefined ? undefined : toPort(flags.healthPort);
  const { apps, runs } = await loadApps(path.resolve(session.io.cwd, file));
  try {
    const onEvent = (event: WorkerEvent): void => tell(event, session);
    const worker = await runs.work({ drivers: apps, slots, healthPort, onEvent });
    started(worker, apps, session);
    return await stopped(worker, drainMs, session);
  } finally {
    await runs.close();
  }
}

/** Ends when it is told to: at the first signal it drains, at the second one it ends at once. */
async function stopped(worker: Worker, drainMs: number, { io, out }: Session): Promise<ExitCode> {
  if (!io.signal.aborted) await once(io.signal, 'abort');
  out.item({ is: 'draining', runs: worker.busy }, [
    `draining: ${worker.busy} runs stop at their next safe point`,
  ]);
  const isHurried = io.abort?.aborted === true;
  const cutOff = (): void => worker.cutOff();
  io.abort?.addEventListener('abort', cutOff);
  const left = await worker.stop({ drainMs: isHurried ? 0 : drainMs });
  io.abort?.removeEventListener('abort', cutOff);
  out.item({ is: 'stopped', left }, [
    left === 0 ? 'stopped' : `stopped; ${left} runs were left as they were`,
  ]);
  return left === 0 ? EXIT.ok : EXIT.resumable;
}

function started(worker: Worker, apps: readonly ClusterApp[], { out }: Session): void {
  const { slots, healthPort } = worker;
  const graphs = apps.map(({ queue }) => queue);
  const names = graphs.map(({ graph, fingerprint }) => `${graph} (${fingerprint.slice(0, 8)})`).join(', ');
  out.item({ is: 'started', slots, healthPort, graphs }, [
    `drives ${names} in ${slots} slots; Ctrl-C drains`,
    ...(healthPort === null ? [] : [`health on port ${healthPort}`]),
  ]);
}

function tell(event: WorkerEvent, { out }: Session): void {
  const error = 'error' in event ? String(event.error) : null;
  const { is } = event;
  const run = 'runId' in event ? `${event.runId}: ` : '';
  const more = event.is === 'settled' ? ` (${event.status})` : error === null ? '' : `: ${error}`;
  const words = is === 'away' ? 'PostgreSQL cannot be asked' : is;
  out.item(error === null ? event : { ...event, error }, [`${run}${words}${more}`]);
}

function toNumber(name: string, text: string, least: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least) return number;
  throw usageError(`${name} is "${text}".`, `Give a whole number from ${least}.`);
}

function toPort(text: string): number {
  const port = toNumber('--health-port', text, 0);
  if (port <= 65_535) return port;
  throw usageError(`"${text}" is no port.`, 'Give a number from 1 to 65535, or 0 for any that is free.');
}

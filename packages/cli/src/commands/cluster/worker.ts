import { once } from 'node:events';
import path from 'node:path';
import type { RunDriver } from '@devs/core/internal';
import type { PostgresRuns, Worker, WorkerEvent } from '@devs/postgres';
import type { Command, CommandOptions } from 'commander';
import { loadPostgres } from '../../cluster/loadPostgres.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { namedCluster } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { loadApps, missingHere, pipelineDriver } from '../../project/workerApps.ts';
import { usageError } from '../../usageError.ts';
import { workFiles } from './workFiles.ts';

interface WorkerFlags {
  readonly pipeline?: true;
  readonly check?: true;
  readonly concurrency?: string;
  readonly slots?: string;
  readonly healthPort?: string;
  readonly drainMs: string;
}

/** Below the 30 s that Kubernetes waits. */
const DRAIN_MS = '25000';
const SLOTS = '10';

export function addWorker(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('worker', options)
    .description('execute the runs of your graphs, in a state file or a cluster, until you stop it')
    .argument('[module]', 'JavaScript file that exports a durable app, as default, app or apps')
    .option('--pipeline', 'execute pipeline runs, with the configuration of the project folder')
    .option('--check', 'print the programs that this machine lacks for --pipeline, then exit')
    .option('--concurrency <number>', 'number of runs at the same time; per app in state files (default: 10)')
    .option('--slots <number>', 'the same as --concurrency')
    .option(
      '--health-port <number>',
      'port that serves /livez, /readyz and /metrics, in a cluster (default: none)',
    )
    .option('--drain-ms <number>', 'how long calls in flight may take after SIGTERM, in ms', DRAIN_MS)
    .addHelpText(
      'after',
      examples(
        'devs worker ./app.js',
        'devs worker ./app.js --concurrency 20 --health-port 8080',
        'devs worker ./app.js --drain-ms 5000 --json',
        'devs worker --pipeline --db postgres://devs@db.example.org/devs',
        'devs worker --check',
      ),
    )
    .action((file: string | undefined, flags: WorkerFlags, command: Command) =>
      start(command, (session) => runWorker(file, flags, session)),
    );
}

async function runWorker(file: string | undefined, flags: WorkerFlags, session: Session): Promise<ExitCode> {
  if (flags.check) return checkHere(session);
  const slots = slotsOf(flags);
  const drainMs = toNumber('--drain-ms', flags.drainMs, 0);
  const healthPort = flags.healthPort === undefined ? undefined : parseHealthPort(flags.healthPort);
  const loaded = flags.pipeline ? await pipelineApps(session) : await loadApps(moduleOf(file, session));
  if (!('runs' in loaded)) return workFiles(loaded, { slots, drainMs, healthPort }, session);
  const { apps, runs } = loaded;
  try {
    const onEvent = (event: WorkerEvent): void => printEvent(event, session);
    const { signal, drainsAlone } = session.io;
    drainsAlone?.();
    const worker = await runs.work({ drivers: apps, slots, healthPort, onEvent, signal });
    printStarted(worker, apps, session);
    return await untilStopped(worker, drainMs, session);
  } catch (error) {
    // It was told to stop while it waited for PostgreSQL.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    sayStopped(0, session);
    return EXIT.ok;
  } finally {
    await runs.close();
  }
}

/** @throws DevsError `CONFIG_INVALID` */
function slotsOf({ concurrency, slots }: Pick<WorkerFlags, 'concurrency' | 'slots'>): number {
  if (concurrency === undefined) return toNumber('--slots', slots ?? SLOTS, 1);
  if (slots === undefined) return toNumber('--concurrency', concurrency, 1);
  throw usageError('--concurrency and --slots are the same option.', 'Use --concurrency.');
}

async function checkHere(session: Session): Promise<ExitCode> {
  const missing = await missingHere(session);
  const lines = missing.map(({ why }) => `missing: ${why}`);
  session.out.result({ missing }, lines.length === 0 ? ['nothing is missing'] : lines);
  return missing.length === 0 ? EXIT.ok : EXIT.usage;
}

async function pipelineApps(
  session: Session,
): Promise<{ readonly apps: readonly RunDriver[]; readonly runs: PostgresRuns }> {
  const { url, schema } = namedCluster(session);
  const { postgres } = await loadPostgres();
  const runs = postgres({ url, schema, migrate: false });
  try {
    return { apps: [await pipelineDriver(runs, session)], runs };
  } catch (error) {
    await runs.close();
    throw error;
  }
}

function moduleOf(file: string | undefined, { io }: Session): string {
  if (file !== undefined) return path.resolve(io.cwd, file);
  throw usageError('The module is missing.', 'Name a module, or use --pipeline.');
}

/** Ends when it is told to: at the first signal it drains, at the second one it ends at once. */
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

/** Of what is not said as it is called. */
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

function toNumber(name: string, text: string, least: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least) return number;
  throw usageError(`${name} "${text}" is invalid.`, `Use a whole number from ${least}.`);
}

function parseHealthPort(text: string): number {
  const port = toNumber('--health-port', text, 0);
  if (port <= 65_535) return port;
  throw usageError(`"${text}" is not a port.`, 'Use a number from 1 to 65535, or 0 for any free port.');
}

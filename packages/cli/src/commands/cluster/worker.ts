import path from 'node:path';
import type { RunDriver } from '@devs/core/internal';
import type { PostgresRuns } from '@devs/postgres';
import type { Command, CommandOptions } from 'commander';
import { loadPostgres } from '../../cluster/loadPostgres.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { toNumber } from '../../flags/optionValues.ts';
import { namedCluster } from '../../project/openCluster.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { loadApps, missingHere, pipelineDriver } from '../../project/workerApps.ts';
import { usageError } from '../../usageError.ts';
import { workFiles } from './workFiles.ts';
import { workRuns } from './workRuns.ts';

interface WorkerFlags {
  readonly pipeline?: true;
  readonly check?: true;
  readonly concurrency?: string;
  readonly slots?: string;
  readonly healthPort?: string;
  readonly build?: string;
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
    .option('--build <name>', 'name of the deployed program for its metrics, such as a commit')
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
  const work = { slots, drainMs, healthPort, build: flags.build };
  try {
    return await ('runs' in loaded ? workRuns(loaded, work, session) : workFiles(loaded, work, session));
  } finally {
    await ('runs' in loaded ? loaded.runs.close() : Promise.all(loaded.map((app) => app.close())));
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

function parseHealthPort(text: string): number {
  const port = toNumber('--health-port', text, 0);
  if (port <= 65_535) return port;
  throw usageError(`"${text}" is not a port.`, 'Use a number from 1 to 65535, or 0 for any free port.');
}

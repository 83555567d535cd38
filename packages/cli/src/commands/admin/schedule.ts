import type { DurableApp } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { type ModuleApp, withModuleApps } from '../../project/moduleApps.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

type Schedule = Awaited<ReturnType<DurableApp<unknown, unknown, unknown>['schedules']>>[number];

interface ScheduleFlags {
  readonly app?: string;
  readonly cron?: string;
  readonly every?: string;
  readonly timeZone?: string;
  readonly overlap?: string;
  readonly input?: string;
  readonly remove?: true;
}

/** `15m`; a number alone is milliseconds. */
const DURATION = /^(\d+)(ms|s|m|h|d)?$/;
const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function addSchedule(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('schedule', options)
    .description('list the schedules of your apps, or add or remove one')
    .argument('<module>', 'JavaScript file that exports your app, as default, app or apps')
    .argument('[id]', 'the schedule')
    .option('--app <name>', 'the app, if the module exports several')
    .option('--cron <fields>', 'minute, hour, day of the month, month, day of the week')
    .option('--every <duration>', 'in place of --cron: 30s, 15m, 6h, 1d')
    .option('--time-zone <name>', 'for --cron, such as Europe/Berlin (default: UTC)')
    .option('--overlap <what>', 'while the last run goes on: skip, wait or allow (default: skip)')
    .option('--input <json>', 'input of each run')
    .option('--remove', 'remove the schedule; its runs stay')
    .addHelpText(
      'after',
      examples(
        'devs schedule ./app.js',
        `devs schedule ./app.js report --cron '0 8 * * 1-5' --time-zone Europe/Berlin --input '{"topic":"sales"}'`,
        'devs schedule ./app.js report --remove',
      ),
    )
    .action((file: string, id: string | undefined, flags: ScheduleFlags, command: Command) =>
      start(command, (session) => schedule({ file, id }, flags, session)),
    );
}

interface Named {
  readonly file: string;
  readonly id: string | undefined;
}

async function schedule({ file, id }: Named, flags: ScheduleFlags, session: Session): Promise<ExitCode> {
  const { out } = session;
  return withModuleApps(file, session, async (apps) => {
    if (id === undefined) {
      const all = (await Promise.all(apps.map((app) => app.schedules()))).flat();
      out.result(all, all.length === 0 ? ['no schedules'] : all.map(scheduleLine));
      return EXIT.ok;
    }
    const app = namedApp(apps, flags.app);
    if (flags.remove === true) return remove(id, app, session);
    const made = await app
      .schedule(id, optionsFrom(flags), inputFrom(flags.input))
      .catch((error: unknown) => Promise.reject(asUsage(error)));
    out.result(made, [scheduleLine(made)]);
    return EXIT.ok;
  });
}

async function remove(id: string, app: ModuleApp, { out }: Session): Promise<ExitCode> {
  const removed = await app.unschedule(id);
  out.result({ id, removed }, [removed ? `${id} was removed` : `there is no schedule ${id}`]);
  return removed ? EXIT.ok : EXIT.notFound;
}

/** @throws DevsError `CONFIG_INVALID` */
function namedApp(apps: readonly ModuleApp[], name: string | undefined): ModuleApp {
  const named = name === undefined ? apps : apps.filter(({ queue }) => queue.graph === name);
  const [app] = named;
  if (app !== undefined && named.length === 1) return app;
  const names = apps.map(({ queue }) => queue.graph).join(', ');
  throw usageError(`Which app? The module exports ${names}.`, 'Name it with --app.');
}

function optionsFrom({ cron, every, timeZone, overlap }: ScheduleFlags): object {
  return {
    ...(cron !== undefined && { cron }),
    ...(every !== undefined && { every: durationOf(every) }),
    ...(timeZone !== undefined && { timeZone }),
    ...(overlap !== undefined && { overlap }),
  };
}

/** @throws DevsError `CONFIG_INVALID` */
function durationOf(text: string): number {
  const [, count, unit = 'ms'] = DURATION.exec(text) ?? [];
  if (count === undefined) throw usageError(`--every ${text} is no duration.`, 'Use 30s, 15m, 6h or 1d.');
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** @throws DevsError `CONFIG_INVALID` */
function inputFrom(text: string | undefined): unknown {
  if (text === undefined) throw usageError('--input is missing.', `Use --input '{"topic":"sales"}'.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`--input is no JSON: ${(error as Error).message}`, 'Quote it for your shell.', error);
  }
}

const asUsage = (error: unknown): unknown =>
  error instanceof TypeError || error instanceof RangeError
    ? usageError(error.message, 'See devs schedule --help.', error)
    : error;

function scheduleLine({ id, times, nextAt, lastRun, error }: Schedule): string {
  const when =
    times.cron === undefined ? `every ${times.every} ms` : `${times.cron} (${times.timeZone ?? 'UTC'})`;
  const next = nextAt === null ? 'ended' : `next ${new Date(nextAt).toISOString()}`;
  return [`${id}: ${when}`, next, lastRun === null ? 'no run yet' : `last run ${lastRun}`, error ?? '']
    .filter((part) => part !== '')
    .join(', ');
}

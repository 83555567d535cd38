import { existsSync } from 'node:fs';
import path from 'node:path';
import { type ImportedThread, isDevsError } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { type ExportedThread, type ModuleApp, withModuleApps } from '../../project/moduleApps.ts';
import { type OpenSaver, openSaver } from '../../project/officialSaver.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

interface ThreadFlags {
  readonly thread: readonly string[];
  readonly schema?: string;
  readonly history?: true;
}

interface ImportFlags extends ThreadFlags {
  readonly from: string;
  readonly import?: true;
  readonly by?: string;
}

interface ExportFlags extends ThreadFlags {
  readonly to: string;
  readonly export?: true;
}

const PLACE = 'file of a SqliteSaver, or postgres://… of a PostgresSaver';

const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];

export function addImportThreads(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('import-threads', options)
    .description('take over the waiting threads of a LangGraph checkpointer; prints a list first')
    .argument('<module>', 'JavaScript file that exports your app')
    .requiredOption('--from <place>', PLACE)
    .option('--import', 'import the threads of the list; it only reads the checkpointer')
    .option('--thread <id>', 'only this thread; can be repeated', collect, [])
    .option('--history', 'all checkpoints (default: the newest of each graph)')
    .option('--schema <name>', 'schema of a PostgresSaver (default: public)')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs import-threads --from checkpoints.sqlite ./app.js',
        'devs import-threads --from checkpoints.sqlite ./app.js --import --by ada',
      ),
    )
    .action((file: string, flags: ImportFlags, command: Command) =>
      start(command, (session) => importThreads(file, flags, session)),
    );
}

export function addExportThreads(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('export-threads', options)
    .description('copy runs into a LangGraph checkpointer; prints a list first')
    .argument('<module>', 'JavaScript file that exports your app')
    .requiredOption('--to <place>', PLACE)
    .option('--export', 'copy the runs of the list; they stay here as they are')
    .option('--thread <id>', 'only this run; can be repeated', collect, [])
    .option('--history', 'all checkpoints (default: the newest of each graph)')
    .option('--schema <name>', 'schema of a PostgresSaver (default: public)')
    .addHelpText(
      'after',
      examples(
        'devs export-threads --to checkpoints.sqlite ./app.js',
        'devs export-threads --to checkpoints.sqlite ./app.js --thread post-42 --export',
      ),
    )
    .action((file: string, flags: ExportFlags, command: Command) =>
      start(command, (session) => exportThreads(file, flags, session)),
    );
}

interface Told<Done> {
  readonly done?: Done;
  readonly refused?: { readonly id: string; readonly code: string; readonly why: string };
}

async function importThreads(
  file: string,
  { from, schema, thread, history, by, ...flags }: ImportFlags,
  session: Session,
): Promise<ExitCode> {
  const place = { place: placeOf(from, session), schema, writes: false };
  const how = { by: humanFrom(by), history: history === true, dryRun: flags.import !== true };
  if (!isUrl(from) && !existsSync(place.place))
    throw usageError(`${place.place} does not exist.`, 'Name the file of the SqliteSaver.');
  const told = await withApp(file, place, session, async (app, { saver }) => {
    const ids = thread.length > 0 ? thread : await threadsIn({ saver });
    return each(ids, (id) => app.importThread(id, { ...how, saver }));
  });
  const words = ({ id, result, status, gates }: ImportedThread): string =>
    `${id}: ${result}: ${status}${gates > 0 ? `, ${gates} gate(s)` : ''}`;
  return say(told, words, { verb: IMPORT, session, isDone: !how.dryRun });
}

async function exportThreads(
  file: string,
  { to, schema, thread, history, ...flags }: ExportFlags,
  session: Session,
): Promise<ExitCode> {
  const how = { history: history === true, dryRun: flags.export !== true };
  const place = { place: placeOf(to, session), schema, writes: !how.dryRun };
  const told = await withApp(file, place, session, async (app, { saver }) => {
    const ids = thread.length > 0 ? thread : await runsOf(app);
    return each(ids, (id) => app.exportThread(id, { ...how, saver }));
  });
  const words = ({ id, result, status, interrupts }: ExportedThread): string =>
    `${id}: ${result}: ${status}${interrupts.length > 0 ? `, ${interrupts.length} interrupt(s)` : ''}`;
  return say(told, words, { verb: EXPORT, session, isDone: !how.dryRun });
}

const isUrl = (place: string): boolean => /^\w+:\/\//.test(place);

const placeOf = (place: string, { io }: Session): string =>
  isUrl(place) ? place : path.resolve(io.cwd, place);

async function withApp<T>(
  file: string,
  place: Omit<Parameters<typeof openSaver>[0], 'app'>,
  session: Session,
  work: (app: ModuleApp, saver: OpenSaver) => Promise<T>,
): Promise<T> {
  return withModuleApps(file, session, async (apps) => {
    const [app, ...others] = apps;
    if (app === undefined || others.length > 0)
      throw usageError(`${file} exports several apps.`, 'Export the one whose threads these are.');
    const opened = await openSaver({ ...place, app: path.resolve(session.io.cwd, file) });
    try {
      return await work(app, opened);
    } catch (error) {
      throw isDevsError(error) ? error : unusable(error);
    } finally {
      await opened.close();
    }
  });
}

const unusable = (error: unknown): Error =>
  usageError(
    `The checkpointer cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    'Check that it is the place of a SqliteSaver or a PostgresSaver, and that it can be reached.',
    error,
  );

async function threadsIn({ saver }: Pick<OpenSaver, 'saver'>): Promise<readonly string[]> {
  const ids = new Set<string>();
  for await (const { config } of saver.list({})) ids.add(String(config.configurable?.['thread_id']));
  return [...ids].sort();
}

async function runsOf(app: ModuleApp): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await app.list({ graph: app.fingerprint, ...(after !== undefined && { after }) });
    ids.push(...page.runs.map(({ id }) => id));
    after = page.next ?? undefined;
  } while (after !== undefined);
  return ids.sort();
}

/** Continues after a thread that is refused. */
async function each<Done>(
  ids: readonly string[],
  transfer: (id: string) => Promise<Done>,
): Promise<readonly Told<Done>[]> {
  const told: Told<Done>[] = [];
  for (const id of ids) {
    try {
      told.push({ done: await transfer(id) });
    } catch (error) {
      told.push({ refused: { id, ...whyNot(error) } });
    }
  }
  return told;
}

/** @throws Other errors than those of one thread. */
function whyNot(error: unknown): { readonly code: string; readonly why: string } {
  if (isDevsError(error)) return { code: String(error.context['reason'] ?? error.code), why: error.message };
  if (error instanceof TypeError) return { code: 'INVALID_ID', why: error.message };
  throw error;
}

const IMPORT = 'import';
const EXPORT = 'export';

interface Saying {
  readonly verb: typeof IMPORT | typeof EXPORT;
  readonly session: Session;
  readonly isDone: boolean;
}

function say<Done extends object>(
  told: readonly Told<Done>[],
  words: (done: Done) => string,
  { verb, session, isDone }: Saying,
): ExitCode {
  const threads = told.flatMap(({ done }) => done ?? []);
  const refused = told.flatMap((one) => one.refused ?? []);
  const summary = `${threads.length} ${isDone ? `${verb}ed or unchanged` : `can be ${verb}ed`}, ${refused.length} refused`;
  session.out.result({ threads, refused }, [
    ...threads.map(words),
    ...refused.map(({ id, code, why }) => `${id}: refused (${code}): ${why}`),
    { style: 'bold', text: summary },
    ...(isDone || threads.length === 0 ? [] : [`to ${verb} them, add --${verb}`]),
  ]);
  return refused.length === 0 ? EXIT.ok : EXIT.gateRefused;
}

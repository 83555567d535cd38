import { once } from 'node:events';
import { isDevsError, Orchestrator } from '@devs/core';
import { endingWith } from '@devs/core/internal';
import type { UiHandler } from '@devs/ui';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { resolveGate } from '../gates/resolveGate.ts';
import { assertRuns } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { parsePort, printLink, startListening } from '../serve/listening.ts';
import { openPagePlace, type PagePlace } from '../serve/pagePlace.ts';

interface UiFlags {
  /** The id of a run, or the beginning of that of a gate. */
  readonly place?: string | undefined;
  readonly port?: string;
  readonly file?: string;
  readonly by?: string;
  /** Only read. */
  readonly read?: true;
}

/** The same every time, so that an address can be kept; another one where somebody has it. */
const USUAL_PORT = 7430;

export function addUi(program: Command, start: Start): void {
  program
    .command('ui')
    .description('serve a page on this machine to read and decide gates, and to execute runs')
    .argument('[place]', 'run or gate to open')
    .option('--port <number>', `port (default: ${USUAL_PORT}, or a free one)`)
    .option('--file <file>', "state file of your own graph (default: the project's)")
    .option('--by <name>', 'your name for decisions on the page (default: your user name)')
    .option('--read', 'only read: no decisions, and no run is executed')
    .addHelpText(
      'after',
      examples(
        'devs ui',
        'devs ui --read',
        'devs ui csv-export',
        'devs ui 3f2a91c0',
        'devs ui --port 8080',
        'devs ui --file posts.sqlite',
      ),
    )
    .action((place: string | undefined, flags: UiFlags, command: Command) =>
      start(command, (session) => serveUi({ ...flags, place }, session)),
    );
}

async function serveUi({ file, ...flags }: UiFlags, session: Session): Promise<ExitCode> {
  const at = await openPagePlace(file, session);
  try {
    return await serveAt(at, flags, session);
  } finally {
    await at.runs?.close();
  }
}

async function serveAt(at: PagePlace, flags: UiFlags, session: Session): Promise<ExitCode> {
  const { place, port, by } = flags;
  const { createUi, OneTimeCodes, serveOnLoopback } = await import('@devs/ui');
  const human = humanFrom(by);
  const wanted = port === undefined ? null : parsePort(port);
  const to = place === undefined ? '' : `&at=${await pathTo(place, at, session)}`;
  // A program that starts this is told a link, too, and must not come to decide by it.
  const isTerminal = !session.out.json && session.io.stdout.isTTY === true;
  const readOnly = flags.read === true || !isTerminal;
  const driving = readOnly || flags.file !== undefined ? {} : await drivingOf(session);
  let ui: UiHandler | undefined;
  const handler: Parameters<typeof serveOnLoopback>[0]['handler'] = (hosts) => {
    const onCode = (code: string): void =>
      printLink({ url: `http://${hosts[0]}/#code=${code}${to}`, readOnly }, session);
    const { identify, signIn } = new OneTimeCodes({ by: human, onCode });
    ui = createUi({ ...at, ...driving, hosts, readOnly, identify, signIn });
    return ui;
  };
  const served = await startListening({ wanted, usual: USUAL_PORT }, (at) =>
    serveOnLoopback({ port: at, handler }),
  );
  session.out.note(
    `Press Ctrl-C to stop the page; ${'drive' in driving ? 'runs that it executes stop at their next safe point' : 'runs are not affected'}.${readOnly ? readOnlyNote(flags) : ''}`,
  );
  if (!session.io.signal.aborted) await once(session.io.signal, 'abort');
  session.io.abort?.addEventListener('abort', () => ui?.abort(), { once: true });
  await ui?.close();
  await served.close();
  return EXIT.ok;
}

/** Loads what executes runs, which a page that only reads does without. */
async function drivingOf(
  session: Session,
): Promise<ReturnType<typeof import('../serve/pageDriving.ts').pageDriving>> {
  return (await import('../serve/pageDriving.ts')).pageDriving(session);
}

const readOnlyNote = ({ read }: UiFlags): string =>
  read === true ? ' Read-only.' : ' Read-only: the output is not a terminal.';

/**
 * Where the page shows what a command line names.
 *
 * @throws DevsError `THREAD_NOT_FOUND` where there are no runs, `GATE_NOT_FOUND` for a name of neither a run nor a gate,
 *   `CONFIG_INVALID` for one of several gates.
 */
async function pathTo(
  name: string,
  { dir, file, encryptionKey, runs }: PagePlace,
  session: Session,
): Promise<string> {
  if (file === undefined) assertRuns(session);
  const at = {
    encryptionKey,
    ...(dir !== undefined && { dir }),
    ...(file !== undefined && { file }),
    ...(runs && { runs }),
  };
  const devs = await Orchestrator.open({ ...at, readOnly: true });
  return endingWith(
    () => devs.close(),
    async () => {
      if (await isRun(name, devs)) return `/runs/${encodeURIComponent(name)}`;
      const { run, sessionId } = await resolveGate(devs, name);
      return `/runs/${encodeURIComponent(run.id)}/gates/${encodeURIComponent(sessionId)}`;
    },
  );
}

async function isRun(name: string, devs: Orchestrator): Promise<boolean> {
  try {
    await devs.run(name);
    return true;
  } catch (error) {
    if (isDevsError(error, 'THREAD_NOT_FOUND')) return false;
    throw error;
  }
}

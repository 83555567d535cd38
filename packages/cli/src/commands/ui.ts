import { createHash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { type Gate, isDevsError, Orchestrator } from '@devs/core';
import { endingWith } from '@devs/core/internal';
import type { serveOnLoopback, UiOptions } from '@devs/ui';
import type { Command } from 'commander';
import { clusterKey } from '../cluster/ClusterAt.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { resolveGate } from '../gates/resolveGate.ts';
import { clusterRuns } from '../project/openCluster.ts';
import { assertRuns, codeInGit, limitsIn } from '../project/openProject.ts';
import { encryptionKeyOf, examples, type Session, type Start } from '../project/Session.ts';
import { readCommitDiff, readShownDiff, type ShownRange } from '../render/reviewDiff.ts';
import { usageError } from '../usageError.ts';

/** The code of a review, as the page shows it. */
type ReviewCode = NonNullable<Awaited<ReturnType<NonNullable<UiOptions['readCode']>>>>;

interface UiFlags {
  /** The id of a run, or the beginning of that of a gate. */
  readonly place?: string | undefined;
  readonly port?: string;
  readonly file?: string;
  readonly by?: string;
}

/** The same every time, so that an address can be kept; another one where somebody has it. */
const USUAL_PORT = 7430;

export function addUi(program: Command, start: Start): void {
  program
    .command('ui')
    .description('serve a page on this machine to read and decide gates; does not resume runs')
    .argument('[place]', 'run or gate to open')
    .option('--port <number>', `port (default: ${USUAL_PORT}, or a free one)`)
    .option('--file <file>', "state file of your own graph (default: the project's)")
    .option('--by <name>', 'your name for decisions on the page (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs ui',
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
  const at = await openPlaceAt(file, session);
  try {
    return await serveAt(at, flags, session);
  } finally {
    await at.runs?.close();
  }
}

async function serveAt(at: PlaceAt, { place, port, by }: UiFlags, session: Session): Promise<ExitCode> {
  const { createUi, OneTimeCodes, serveOnLoopback } = await import('@devs/ui');
  const human = humanFrom(by);
  const wanted = port === undefined ? null : parseUiPort(port);
  const to = place === undefined ? '' : `&at=${await pathTo(place, at, session)}`;
  // A program that starts this is told a link, too, and must not come to decide by it.
  const readOnly = session.out.json || session.io.stdout.isTTY !== true;
  const handler: Parameters<typeof serveOnLoopback>[0]['handler'] = (hosts) => {
    const onCode = (code: string): void =>
      printLink({ url: `http://${hosts[0]}/#code=${code}${to}`, readOnly }, session);
    const { identify, signIn } = new OneTimeCodes({ by: human, onCode });
    return createUi({ ...at, hosts, readOnly, identify, signIn });
  };
  const served = await startListening(wanted, (at) => serveOnLoopback({ port: at, handler }));
  session.out.note(
    `Press Ctrl-C to stop the page; runs are not affected.${readOnly ? ' Read-only: the output is not a terminal.' : ''}`,
  );
  if (!session.io.signal.aborted) await once(session.io.signal, 'abort');
  await served.close();
  return EXIT.ok;
}

type PlaceAt = Pick<
  UiOptions,
  | 'dir'
  | 'file'
  | 'encryptionKey'
  | 'runs'
  | 'limits'
  | 'readCode'
  | 'readCommit'
  | 'code'
  | 'drafts'
  | 'rewinding'
>;

/**
 * Where the page shows what a command line names.
 *
 * @throws DevsError `THREAD_NOT_FOUND` where there are no runs, `GATE_NOT_FOUND` for a name of neither a run nor a gate,
 *   `CONFIG_INVALID` for one of several gates.
 */
async function pathTo(
  name: string,
  { dir, file, encryptionKey, runs }: PlaceAt,
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

/** @param name - Of the folder: those of another place are not among them, and would go with the gates that are not open here. */
const draftsIn = (dir: string, name = 'drafts'): string => path.join(dir, '.devs', 'ui', name);

/** The code of a review is where the runs of the project have it. */
async function openPlaceAt(file: string | undefined, session: Session): Promise<PlaceAt> {
  const { cluster } = session;
  if (file === undefined) {
    const at =
      cluster === null
        ? {
            ...encryptionKeyOf(session),
            dir: path.join(session.dir, '.devs'),
            drafts: draftsIn(session.dir),
          }
        : {
            runs: await clusterRuns(cluster, session),
            drafts: draftsIn(
              session.dir,
              `drafts-${createHash('sha256').update(clusterKey(cluster)).digest('hex').slice(0, 16)}`,
            ),
          };
    const limits = await limitsIn(session.dir);
    return {
      ...at,
      ...(limits && { limits }),
      readCode: (gate, since) => gateCodeOf(gate, since, session),
      readCommit: async (run, commit) => toGateCode(await readCommitDiff(run, commit, session)),
      code: codeInGit(session),
      rewinding: async (id, work) =>
        (await import('../project/withAgentsOf.ts')).withAgentsOf(id, session, work),
    };
  }
  if (cluster !== null)
    throw usageError('--file is only for local runs.', 'Remove --file to see the runs of the cluster.');
  const whole = path.resolve(session.io.cwd, file);
  const dir = path.dirname(whole);
  return { ...encryptionKeyOf(session), dir, file: path.basename(whole), drafts: draftsIn(dir) };
}

async function gateCodeOf(
  gate: Gate,
  since: string | undefined,
  session: Session,
): Promise<ReviewCode | null> {
  const diff = await readShownDiff(gate, since, session);
  if (diff === null || typeof diff === 'string') return diff === null ? null : toGateCode(diff);
  return { ...toGateCode(diff), hidden: diff.hidden };
}

function toGateCode(diff: ShownRange | string): ReviewCode {
  if (typeof diff === 'string') return { diff: '', unshown: [], problem: diff };
  return { diff: diff.text, unshown: diff.unshown.map((each) => each.path) };
}

/** Past the masks of every other output: the code is made to be read, and looks like the secret that it is. */
function printLink(link: { readonly url: string; readonly readOnly: boolean }, { io, out }: Session): void {
  io.stdout.write(out.json ? `${JSON.stringify(link)}\n` : `${link.url}\n`);
}

async function startListening(
  wanted: number | null,
  serve: (port: number) => ReturnType<typeof serveOnLoopback>,
): ReturnType<typeof serveOnLoopback> {
  try {
    return await serve(wanted ?? USUAL_PORT);
  } catch (error) {
    if (wanted === null) return serve(0);
    const remedy = 'Use another port, or remove --port.';
    throw usageError(`Cannot use port ${wanted}: ${(error as Error).message}`, remedy, error);
  }
}

function parseUiPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw usageError(`"${text}" is not a port.`, 'Use a number from 1 to 65535, or 0 for any free port.');
}

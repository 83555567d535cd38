import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command, CommandOptions } from 'commander';
import { type ChaosReport, runChaos } from '../../chaos/runChaos.ts';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { columns, type Line } from '../../terminal/Line.ts';
import { usageError } from '../../usageError.ts';

const DEFAULT_KILLS = '20';

export function addChaos(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('chaos', options)
    .description('test on this machine and disk that kill -9 loses nothing; uses its own folder')
    .option('--kills <count>', 'how many times to kill the process', DEFAULT_KILLS)
    .addHelpText('after', examples('devs admin chaos', 'devs admin chaos --kills 100 --dir /mnt/slow-disk'))
    .action(({ kills }: { readonly kills: string }, command: Command) =>
      start(command, (session) => chaos(parseKillCount(kills), session)),
    );
}

async function chaos(kills: number, { dir: project, io, out }: Session): Promise<ExitCode> {
  const dir = mkdtempSync(path.join(project, '.devs-chaos-'));
  writeFileSync(path.join(dir, '.gitignore'), '*\n');
  const onKill = (done: number): void => out.live(`${done} of ${kills} kills`);
  const report = await runChaos({ kills, dir, random: Math.random, signal: io.signal, onKill });
  out.live(null);
  const isKept = report.violations.length > 0;
  if (!isKept) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  out.result({ ...report, folder: isKept ? dir : null }, [
    ...renderChaosReport(report),
    ...(isKept ? [`files for inspection are in ${dir}`] : []),
  ]);
  return isKept ? EXIT.runFailed : EXIT.ok;
}

function renderChaosReport({
  kills,
  runs,
  events,
  steps,
  inFlight,
  violations,
}: ChaosReport): readonly Line[] {
  const title = `${kills} × kill -9; ${runs === 1 ? '1 run' : `${runs} runs`} ended like a run without kills`;
  if (violations.length > 0)
    return [{ style: 'bold', text: title }, ...violations.map((each) => `  ${each}`)];
  const rows = [
    ['  acknowledged events', `${events}, lost 0`],
    ['  recorded steps', `${steps}, lost 0; calls repeated 0`],
    ['  calls in flight at a kill', `${inFlight} repeated`],
    ['  state file', 'sound after every kill'],
  ];
  return [{ style: 'bold', text: title }, ...columns(rows)];
}

function parseKillCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is not a number of kills.`, 'Use a whole number from 1, such as --kills 50.');
}

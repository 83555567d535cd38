import type { RunStatus } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { hasRuns, withView } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { nextCommands } from '../render/nextCommands.ts';
import { renderStatus, runTable } from '../render/renderStatus.ts';

export function addStatus(program: Command, start: Start): void {
  program
    .command('status')
    .description('list the runs, or show one with its tasks, gates and cost')
    .argument('[id]', 'run')
    .addHelpText('after', examples('devs status', 'devs status csv-export', 'devs status --json'))
    .action((id: string | undefined, _options: object, command: Command) =>
      start(command, (session) => (id === undefined ? listRuns(session) : showRun(id, session))),
    );
}

async function listRuns(session: Session): Promise<ExitCode> {
  const runs = hasRuns(session) ? await withView(session, (devs) => devs.list()) : [];
  const none = [
    `There are no runs in ${session.dir}.`,
    `Start one: ${session.devs('run', 'brief.md', '--help')}`,
  ];
  session.out.result(runs, runs.length === 0 ? none : [...runTable(runs), ...nextOf(runs, session)]);
  return EXIT.ok;
}

/** Of the run that somebody has to do something about, else of any. */
function nextOf(runs: readonly RunStatus[], { devs }: Session): readonly string[] {
  const waiting = runs.find(({ gates }) => gates.length > 0);
  return waiting === undefined
    ? [`one of them: ${devs('status', runs[0]?.id ?? '')}`]
    : nextCommands(waiting, devs).slice(0, 1);
}

async function showRun(id: string, session: Session): Promise<ExitCode> {
  const status = await withView(session, async (devs) => (await devs.run(id)).status());
  session.out.result(status, renderStatus(status, session.devs));
  return EXIT.ok;
}

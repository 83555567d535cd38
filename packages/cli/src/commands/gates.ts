import type { Gate, Orchestrator } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { hasRuns, withView } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { gateLine } from '../render/renderGate.ts';
import { columns } from '../terminal/columns.ts';

export function addGates(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('gates', options)
    .description('list what waits for a human, in all runs or in one')
    .argument('[id]', 'run')
    .addHelpText('after', examples('devs gates', 'devs gates csv-export --json'))
    .action((id: string | undefined, _options: object, command: Command) =>
      start(command, (session) => gates(id, session)),
    );
}

async function gates(id: string | undefined, session: Session): Promise<ExitCode> {
  const isEmpty = id === undefined && !hasRuns(session);
  const open = isEmpty ? [] : await withView(session, (devs) => openGates(devs, id));
  const table = columns([['gate', 'run', 'about', 'open since'], ...open.map(gateLine)]);
  const first = open[0];
  session.out.result(
    open,
    first === undefined
      ? ['No gate is open.']
      : [...table, '', `read one: ${session.devs('show', first.sessionId.slice(0, 8))}`],
  );
  return EXIT.ok;
}

async function openGates(devs: Orchestrator, id: string | undefined): Promise<readonly Gate[]> {
  if (id !== undefined) return (await devs.run(id)).gates();
  return (await devs.list()).flatMap((run) => run.gates);
}

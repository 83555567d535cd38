import { DevsError } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { isMaskedForDisplay } from '../maskedJson.ts';
import { withRuns } from '../openProject.ts';
import { renderGate } from '../renderGate.ts';
import { resolveGate } from '../resolveGate.ts';
import type { Session } from '../Session.ts';
import { examples, type Start } from '../Start.ts';

export function addShow(program: Command, start: Start): void {
  program
    .command('show')
    .description('print all that a decision on a gate is about')
    .argument('<gate>', 'gate, or a run that waits at one')
    .addHelpText(
      'after',
      examples('devs show 3f2a91c0', 'devs show csv-export | less', 'devs show 3f2a --json'),
    )
    .action((name: string, _options: object, command: Command) =>
      start(command, (session) => show(name, session)),
    );
}

async function show(name: string, session: Session): Promise<ExitCode> {
  const { sessionId, gate } = await withRuns(session, (devs) => resolveGate(devs, name));
  if (gate === null) throw notOpen(sessionId);
  const document = { ...gate, maskedForDisplay: isMaskedForDisplay(gate.artifact) };
  session.out.result(document, renderGate(gate, session.devs));
  return EXIT.ok;
}

function notOpen(sessionId: string): DevsError {
  return new DevsError(`Gate ${sessionId.slice(0, 8)} is not open.`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'List the open gates with devs gates, or read how it was decided with devs log.',
    context: { sessionId },
  });
}

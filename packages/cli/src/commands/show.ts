import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { gateNotOpen } from '../gateNotOpen.ts';
import { isMaskedForDisplay } from '../maskedJson.ts';
import { withRuns } from '../openProject.ts';
import { renderGate } from '../renderGate.ts';
import { renderGateMarkdown } from '../renderGateMarkdown.ts';
import { resolveGate } from '../resolveGate.ts';
import type { Session } from '../Session.ts';
import { examples, type Start } from '../Start.ts';

export function addShow(program: Command, start: Start): void {
  program
    .command('show')
    .description('print all that a decision on a gate is about')
    .argument('<gate>', 'gate, or a run that waits at one')
    .option('--md', 'as Markdown, for a pull request, with the decision to fill in')
    .addHelpText(
      'after',
      examples(
        'devs show 3f2a91c0',
        'devs show csv-export | less',
        'devs show csv-export --md > review.md',
        'devs show 3f2a --json',
      ),
    )
    .action((name: string, options: ShowOptions, command: Command) =>
      start(command, (session) => show(name, options, session)),
    );
}

interface ShowOptions {
  readonly md?: true;
}

async function show(name: string, { md }: ShowOptions, session: Session): Promise<ExitCode> {
  const { sessionId, gate } = await withRuns(session, (devs) => resolveGate(devs, name));
  if (gate === null) throw gateNotOpen(sessionId);
  const document = { ...gate, maskedForDisplay: isMaskedForDisplay(gate.artifact) };
  const render = md === true ? renderGateMarkdown : renderGate;
  session.out.result(document, render(gate, session.devs));
  return EXIT.ok;
}

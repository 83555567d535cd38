import { shownGate } from '@devs/core';
import { leaveAtGate, maskAtGate } from '@devs/core/internal';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { gateNotOpen, resolveGate } from '../gates/resolveGate.ts';
import { ShownGates } from '../gates/ShownGates.ts';
import { codeInGit, withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { exchangeLines } from '../render/gateTalk.ts';
import { renderClosedGate } from '../render/renderClosedGate.ts';
import { gatePages, type ShowOptions } from '../show/gatePages.ts';
import { linesAtGate } from '../terminal/Line.ts';

export function addShow(program: Command, start: Start): void {
  program
    .command('show')
    .description('print the content of a gate, or the decision if it is closed')
    .argument('<gate>', 'id of a gate, or of a run with one open gate')
    .option('--full', 'print all of it, not only the changes since you last read it')
    .option('--reveal', 'also print hidden text, for you only; this is recorded and makes approval possible')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .option('--md', 'print Markdown for a pull request, with a decision to fill in')
    .addHelpText(
      'after',
      examples(
        'devs show 3f2a91c0',
        'devs show csv-export | less',
        'devs show csv-export --md > review.md',
        'devs show csv-export --reveal',
        'devs show 3f2a --json',
      ),
    )
    .action((name: string, options: ShowOptions, command: Command) =>
      start(command, (session) => show(name, options, session)),
    );
}

async function show(name: string, options: ShowOptions, session: Session): Promise<ExitCode> {
  // The state file is closed before anybody reads: that may take an hour.
  const { document, lines, open } = await withView(
    session,
    async (devs) => {
      const { run, gate, closed } = await resolveGate(devs, name);
      if (gate !== null) return { ...(await gatePages({ run, gate }, options, session)), open: [gate] };
      if (options.reveal === true) throw gateNotOpen(closed.sessionId);
      const shown = shownGate(closed);
      const at = { gate: closed.sessionId };
      const { view: exchanges } = maskAtGate(await run.exchanges(closed), at);
      return {
        document: leaveAtGate({ ...shown, ...(exchanges.length > 0 && { exchanges }) }),
        lines: linesAtGate(renderClosedGate(shown, exchangeLines(exchanges))),
        open: [],
      };
    },
    { code: codeInGit(session) },
  );
  await session.out.pages(document, lines);
  new ShownGates(session).remember(open);
  return EXIT.ok;
}

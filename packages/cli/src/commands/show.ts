import { type Gate, isDevsError, type Principal, type Run } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { gateNotOpen } from '../gates/gateNotOpen.ts';
import { resolveGate } from '../gates/resolveGate.ts';
import { ShownGates } from '../gates/ShownGates.ts';
import { withView } from '../project/openProject.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { hasChanges } from '../render/artifactChanges.ts';
import { renderGate } from '../render/renderGate.ts';
import { renderGateMarkdown } from '../render/renderGateMarkdown.ts';
import { diffLines, type ReviewDiff, readReviewDiff } from '../render/reviewDiff.ts';
import { isMaskedForDisplay } from '../terminal/maskedJson.ts';
import type { Line } from '../terminal/Output.ts';

export function addShow(program: Command, start: Start): void {
  program
    .command('show')
    .description('print all that a decision on a gate is about')
    .argument('<gate>', 'gate, or a run that waits at one')
    .option('--full', 'all of it, not only what has changed since you last read it')
    .option('--by <name>', 'who reads (default: your user name)')
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
  readonly full?: true;
  readonly by?: string;
  readonly md?: true;
}

async function show(name: string, options: ShowOptions, session: Session): Promise<ExitCode> {
  // The state file is closed before anybody reads: that may take an hour.
  const { document, lines, gate } = await withView(session, async (devs) => {
    const { run, sessionId, gate } = await resolveGate(devs, name);
    if (gate === null) throw gateNotOpen(sessionId);
    const diff = await readReviewDiff(gate, session);
    const maskedForDisplay = isMaskedForDisplay(gate.artifact);
    return {
      document: { ...gate, maskedForDisplay, ...(diff !== null && { diff }) },
      lines: await linesFor({ run, gate, diff }, options, session),
      gate,
    };
  });
  await session.out.pages(document, lines);
  new ShownGates(session).remember([gate]);
  return EXIT.ok;
}

interface ShownGate {
  readonly run: Run;
  readonly gate: Gate;
  readonly diff: ReviewDiff | string | null;
}

async function linesFor(
  { run, gate, diff }: ShownGate,
  { md, full, by }: ShowOptions,
  { out, devs }: Session,
): Promise<readonly Line[]> {
  const code = diff === null ? [] : diffLines(diff, gate, { full: full === true || md === true, devs });
  if (md === true) return renderGateMarkdown(gate, devs, code);
  const reader = out.json ? null : readerFrom(by);
  const before = reader === null ? null : await shownTo(reader, { run, gate }, out);
  const isWhole = full === true || !hasChanges(gate.artifact);
  return renderGate(gate, devs, { before: isWhole ? null : before, code });
}

/** Where nothing can be written, all of it can be read all the same. */
async function shownTo(
  reader: Principal,
  { run, gate }: Pick<ShownGate, 'run' | 'gate'>,
  out: Session['out'],
): Promise<Gate | null> {
  try {
    return await run.shown(gate, reader);
  } catch (error) {
    if (!isDevsError(error, 'STATE_IO') && !isDevsError(error, 'STATE_DISK_FULL')) throw error;
    out.note(`it is not recorded that ${reader.id} was shown this: ${error.message}`);
    return null;
  }
}

/** Reading needs no name, unlike deciding: without one nobody is told what has changed. */
function readerFrom(by: string | undefined): Principal | null {
  try {
    return humanFrom(by);
  } catch (error) {
    if (by !== undefined) throw error;
    return null;
  }
}

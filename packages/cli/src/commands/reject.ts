import type { Command } from 'commander';
import { decideGate } from '../drive/decideGate.ts';
import { addDecideOptions, type DecideFlags } from '../flags/decideFlags.ts';
import { collectValues } from '../flags/optionValues.ts';
import { commentsFrom } from '../gates/commentsFrom.ts';
import { writeFeedback } from '../gates/edit/EditorFile.ts';
import { assertTakes } from '../gates/gateLabels.ts';
import type { Decide } from '../gates/recordDecision.ts';
import { gateNotOpen } from '../gates/resolveGate.ts';
import { examples, isTerminal, type Session, type Start } from '../project/Session.ts';
import { usageError } from '../usageError.ts';

interface RejectOptions extends DecideFlags {
  readonly feedback?: string;
  readonly task?: readonly string[];
  readonly comment?: readonly string[];
}

export function addReject(program: Command, start: Start): void {
  const verb = program
    .command('reject')
    .description('reject a gate with feedback; add --go to resume the run')
    .argument('<gate>', 'id of a gate, or of a run with one open gate')
    .option('--feedback <text>', 'what should change (default: opens $VISUAL or $EDITOR on a terminal)')
    .option(
      '--comment <comment>',
      "comment on a quote: 'QUOTE => TEXT', or 'IN: QUOTE => TEXT' if the quote is in several places; IN is a document, task or file, IN:LINE one line of it (repeatable)",
      collectValues,
    )
    .option('--task <label>', 'code review: task to redo (repeatable; default: the last)', collectValues);
  addDecideOptions(verb)
    .addHelpText(
      'after',
      examples(
        "devs reject 3f2a91c0 --feedback 'Use one file, not two'",
        "devs reject csv-export --comment 'Two tables. => Why not one?' --comment 'TAS:12: UTF-8 => Say so in the PRD'",
        "devs reject csv-export --feedback 'The header is missing' --task T2",
        'devs reject csv-export --go   # on a terminal: asks for the feedback in your editor',
      ),
    )
    .action((name: string, options: RejectOptions, command: Command) =>
      start(command, (session) => decideGate(name, rejectionFromFlags(options, session), options, session)),
    );
}

/** @throws DevsError `CONFIG_INVALID` without a reason where nobody can be asked for it. */
function rejectionFromFlags(options: RejectOptions, session: Session): Decide {
  const { feedback, task: tasks, comment: typed = [] } = options;
  const isSaid = feedback !== undefined || typed.length > 0;
  if (!isSaid && !isTerminal(session)) {
    throw usageError('The feedback is missing.', "Describe what should change with --feedback '…'.");
  }
  return async ({ run, gate, kind, sessionId }) => {
    const no = { approved: false, feedback, tasks };
    if (isSaid && typed.length === 0) return { choice: 'reject', answer: no };
    assertTakes(gate ?? kind, 'reject', { gate: sessionId.slice(0, 8), devs: session.devs });
    if (gate === null) throw gateNotOpen(sessionId);
    if (isSaid) {
      const comments = commentsFrom(typed, gate, await run.quotableSections(gate));
      return { choice: 'reject', answer: { ...no, comments } };
    }
    const written = await writeFeedback(gate, session.io);
    return written === null ? null : { choice: 'reject', answer: { ...no, feedback: written } };
  };
}

import type { Command } from 'commander';
import { decideGate } from '../drive/decideGate.ts';
import { addDecideOptions, type DecideFlags } from '../flags/decideFlags.ts';
import { repeated } from '../flags/repeated.ts';
import type { Decide } from '../gates/Decision.ts';
import { writeFeedback } from '../gates/edit/writeFeedback.ts';
import { gateNotOpen } from '../gates/gateNotOpen.ts';
import { assertTakes } from '../gates/gateWords.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { isTerminal } from '../project/terminal.ts';
import { usageError } from '../usageError.ts';

interface RejectOptions extends DecideFlags {
  readonly feedback?: string;
  readonly task?: readonly string[];
}

export function addReject(program: Command, start: Start): void {
  const verb = program
    .command('reject')
    .description('say no at a gate and why; records the decision, and drives nothing without --go')
    .argument('<gate>', 'gate, or a run that waits at one')
    .option('--feedback <text>', 'what should change (default: on a terminal, $VISUAL or $EDITOR asks)')
    .option(
      '--task <label>',
      'of a review: which task is done again (repeatable; default: the last)',
      repeated,
    );
  addDecideOptions(verb)
    .addHelpText(
      'after',
      examples(
        "devs reject 3f2a91c0 --feedback 'Use one file, not two'",
        "devs reject csv-export --feedback 'The header is missing' --task T2",
        'devs reject csv-export --go   # on a terminal: asks for the feedback in your editor',
      ),
    )
    .action((name: string, options: RejectOptions, command: Command) =>
      start(command, (session) => decideGate(name, rejection(options, session), options, session)),
    );
}

/** @throws DevsError `CONFIG_INVALID` without feedback where nobody can be asked for it. */
function rejection({ feedback, task: tasks }: RejectOptions, session: Session): Decide {
  if (feedback === undefined && !isTerminal(session)) {
    throw usageError('No feedback is given.', "Say what should change with --feedback '…'.");
  }
  return async ({ gate, kind, sessionId }) => {
    if (feedback !== undefined) return { choice: 'reject', answer: { approved: false, feedback, tasks } };
    assertTakes(kind, 'reject', { gate: sessionId.slice(0, 8), devs: session.devs });
    if (gate === null) throw gateNotOpen(sessionId);
    const written = await writeFeedback(gate, session.io);
    return written === null
      ? null
      : { choice: 'reject', answer: { approved: false, feedback: written, tasks } };
  };
}

import type { Command } from 'commander';
import { repeated } from '../flags/repeated.ts';
import { type DecideOptions, decideGate } from '../gates/decideGate.ts';
import { examples, type Start } from '../project/Start.ts';

interface RejectOptions extends DecideOptions {
  readonly feedback: string;
  readonly task?: readonly string[];
}

export function addReject(program: Command, start: Start): void {
  program
    .command('reject')
    .description('say no at a gate and why; records the decision, drives nothing')
    .argument('<gate>', 'gate, or a run that waits at one')
    .requiredOption('--feedback <text>', 'what should change')
    .option(
      '--task <label>',
      'of a review: which task is done again (repeatable; default: the last)',
      repeated,
    )
    .option(
      '--hash <prefix>',
      'refuse unless the gate still shows what has this hash (at least 8 hex digits)',
    )
    .option('--by <name>', 'who decides (default: your user name)')
    .addHelpText(
      'after',
      examples(
        "devs reject 3f2a91c0 --feedback 'Use one file, not two'",
        "devs reject csv-export --feedback 'The header is missing' --task T2",
      ),
    )
    .action((name: string, { feedback, task: tasks, ...options }: RejectOptions, command: Command) => {
      const decision = { choice: 'reject', answer: { approved: false, feedback, tasks } } as const;
      return start(command, (session) => decideGate(name, () => decision, options, session));
    });
}

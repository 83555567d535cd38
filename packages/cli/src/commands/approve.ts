import type { Command } from 'commander';
import { type DecideOptions, decideGate } from '../decideGate.ts';
import { examples, type Start } from '../Start.ts';

export function addApprove(program: Command, start: Start): void {
  program
    .command('approve')
    .description('say yes at a gate; records the decision, drives nothing')
    .argument('<gate>', 'gate, or a run that waits at one')
    .option(
      '--hash <prefix>',
      'refuse unless the gate still shows what has this hash (at least 8 hex digits)',
    )
    .option('--by <name>', 'who decides (default: your user name)')
    .addHelpText(
      'after',
      examples('devs approve 3f2a91c0 --hash 9b74c9897bac', 'devs approve csv-export --by ada'),
    )
    .action((name: string, options: DecideOptions, command: Command) => {
      const decision = { choice: 'approve', answer: { approved: true } } as const;
      return start(command, (session) => decideGate(name, () => decision, options, session));
    });
}

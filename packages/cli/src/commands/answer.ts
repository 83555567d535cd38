import type { Command, CommandOptions } from 'commander';
import { toAmount, toMilliseconds } from '../flags/amounts.ts';
import { type AnswerFlags, decisionFrom } from '../gates/answerFlags.ts';
import { type DecideOptions, decideGate } from '../gates/decideGate.ts';
import { promptForAnswer } from '../gates/promptForAnswer.ts';
import { examples, type Start } from '../project/Start.ts';

export function addAnswer(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('answer', options)
    .description('say how a stuck run goes on; records the decision, drives nothing')
    .argument('<gate>', 'gate, or a run that waits at one')
    .option('--retry', 'stuck task: try again, with new counters')
    .option('--guidance <text>', 'with --retry: what the next attempts should know')
    .option('--skip', 'stuck task: give it up; what depends on it is blocked')
    .option('--continue', 'lack of progress: go on for as long again')
    .option('--raise-usd <amount>', 'budget: add so many US dollars', toAmount)
    .option('--raise-tokens <count>', 'budget: add so many tokens', toAmount)
    .option('--raise-calls <count>', 'budget: add so many calls', toAmount)
    .option('--raise-time <length>', 'budget: add so much time of driving, such as 30m', toMilliseconds)
    .option('--abort', 'end the run')
    .option('--reason <text>', 'with --skip or --abort: why, for the record')
    .option(
      '--hash <prefix>',
      'refuse unless the gate still shows what has this hash (at least 8 hex digits)',
    )
    .option('--by <name>', 'who decides (default: your user name)')
    .addHelpText(
      'after',
      examples(
        "devs answer 3f2a91c0 --retry --guidance 'The parser already trims'",
        "devs answer csv-export --skip --reason 'Not worth it'",
        'devs answer csv-export --raise-usd 2.5',
        'devs answer csv-export   # on a terminal: shows the gate and asks',
      ),
    )
    .action((name: string, flags: AnswerFlags & DecideOptions, command: Command) =>
      start(command, (session) => {
        const given = decisionFrom(flags);
        return decideGate(name, given === null ? promptForAnswer(session) : () => given, flags, session);
      }),
    );
}

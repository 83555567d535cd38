import { type Gate, shownGate } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { decideGate } from '../drive/decideGate.ts';
import { addRaiseOptions } from '../flags/budgetFlags.ts';
import { addDecideOptions, addYesOptions, type DecideFlags } from '../flags/decideFlags.ts';
import { type AnswerFlags, decisionFrom, decisionFromFlags, wordsFor } from '../gates/answerFlags.ts';
import { assertTakes, type Choice, choiceCommands, choicesAt, GATE_LABELS } from '../gates/gateLabels.ts';
import type { Decide, Decision } from '../gates/recordDecision.ts';
import { ShownGates } from '../gates/ShownGates.ts';
import { examples, isTerminal, type Session, type Start } from '../project/Session.ts';
import { renderGate } from '../render/renderGate.ts';
import { linesAtGate } from '../terminal/Line.ts';
import { LineReader } from '../terminal/LineReader.ts';
import { usageError } from '../usageError.ts';

export function addAnswer(program: Command, start: Start, options?: CommandOptions): void {
  const verb = program
    .command('answer', options)
    .description('answer a question, or decide how a stuck run continues; add --go to resume the run')
    .argument('<gate>', 'id of a gate, or of a run with one open gate')
    .option('--value <json>', 'question: the value for interrupt() to return, as JSON')
    .option('--edit <json>', 'gate that accepts an edited version: your version, as JSON')
    .option('--retry', 'stuck task: try again and reset the counters')
    .option('--guidance <text>', 'with --retry: guidance for the next attempts')
    .option('--skip', 'stuck task: skip it and block the tasks that depend on it')
    .option('--continue', 'lack of progress: continue for the same number of steps');
  addRaiseOptions(verb)
    .option('--use', 'recorded call of an older version: use the recorded result')
    .option('--repeat', 'recorded call of an older version: make the call, possibly for the second time')
    .option('--again', 'failing checks: run them again, now that you fixed them')
    .option('--first-task', 'failing checks: let the first task fix them')
    .option('--accept', 'failing checks: continue; checks that fail now may keep failing')
    .option('--failure <names...>', 'with --accept: accept only this failure')
    .option('--abort', 'end the run')
    .option('--reason <text>', 'with --skip or --abort: reason for the record');
  addDecideOptions(addYesOptions(verb))
    .addHelpText(
      'after',
      examples(
        "devs answer 3f2a91c0 --retry --guidance 'The parser already trims'",
        "devs answer csv-export --skip --reason 'Not worth it'",
        'devs answer csv-export --raise-usd 2.5',
        `devs answer 3f2a91c0 --value '{ "to": "ada" }'`,
        `devs answer release-2 --edit '"Faster, and fixed"'`,
        'devs answer csv-export   # on a terminal: shows the gate and asks',
      ),
    )
    .action((name: string, flags: AnswerFlags & DecideFlags, command: Command) =>
      start(command, (session) => {
        const given = decisionFrom(flags);
        return decideGate(name, given === null ? promptForAnswer(session) : () => given, flags, session);
      }),
    );
}

/** Shows the gate on a terminal and asks; what is decided is then about exactly what was shown. */
function promptForAnswer(session: Session): Decide {
  return async ({ gate, kind, sessionId }) => {
    const all = gate === null ? GATE_LABELS[kind].choices : choicesAt(gate);
    const choices = all.filter(({ verb }) => verb === 'answer');
    if (choices.length === 0)
      assertTakes(gate ?? kind, 'retry', { gate: sessionId.slice(0, 8), devs: session.devs });
    if (gate === null || !isTerminal(session)) {
      const commands = choiceCommands(gate ?? kind, [sessionId.slice(0, 8)], session.devs);
      throw usageError(
        'The answer is missing.',
        `Use ${commands.map(({ command }) => command).join(', or ')}.`,
      );
    }
    return askAnswer(gate, choices, session);
  };
}

async function askAnswer(gate: Gate, choices: readonly Choice[], session: Session): Promise<Decision | null> {
  const { io, out, devs } = session;
  out.print(...linesAtGate(renderGate(shownGate(gate), devs)), '');
  new ShownGates(session).remember([gate]);
  const reader = new LineReader(io);
  const read = async (question: string): Promise<string | null> => {
    out.ask(`${question}: `);
    return reader.next();
  };
  try {
    const names = choices.map(({ name }) => name);
    for (;;) {
      const said = await read(`${names.join(', ')} (empty: leave the gate open)`);
      if (said === null || said === '') return null;
      const choice = names.find((name) => name === said.toLowerCase());
      if (choice === undefined) continue;
      const words = await wordsFor(choice, gate, read);
      return words === null ? null : decisionFromFlags(choice, words);
    }
  } finally {
    reader.close();
  }
}

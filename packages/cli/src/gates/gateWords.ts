import { DevsError, type Gate } from '@devs/core';
import type { Session } from '../project/Session.ts';
import { isPassedBudget, raiseFlags } from './passedBudget.ts';

/** An answer in the form its kind of gate takes. */
export type Answer = Readonly<Record<string, unknown>>;

export type ChoiceName =
  | 'approve'
  | 'reject'
  | 'edit'
  | 'retry'
  | 'skip'
  | 'continue'
  | 'raise'
  | 'use'
  | 'repeat'
  | 'again'
  | 'first-task'
  | 'accept'
  | 'abort'
  | 'value'
  | 'version';

/** One way to answer a gate. */
export interface Choice {
  readonly name: ChoiceName;
  /** Completes "devs VERB GATE …". */
  readonly verb: 'approve' | 'reject' | 'edit' | 'answer';
  readonly flags: readonly string[];
  readonly meaning: string;
}

const approve = (meaning: string): Choice => ({ name: 'approve', verb: 'approve', flags: [], meaning });
const reject = (meaning: string): Choice => ({
  name: 'reject',
  verb: 'reject',
  flags: ['--feedback', 'what should change'],
  meaning,
});
const edit = (meaning: string): Choice => ({ name: 'edit', verb: 'edit', flags: [], meaning });
const answer = (name: ChoiceName, meaning: string, ...more: readonly string[]): Choice => ({
  name,
  verb: 'answer',
  flags: [...(more.length === 0 ? [`--${name}`] : more)],
  meaning,
});

const ABORT = answer('abort', 'end the run');

/** A kind of gate as people meet it on the command line. */
export interface GateWords {
  /** In a sentence. */
  readonly name: string;
  /** What a human may say at it. */
  readonly choices: readonly Choice[];
  /** Whether `devs run --yes` declares a policy for it. */
  readonly isDeclarable: boolean;
}

export const GATE_WORDS: Readonly<Record<Gate['kind'], GateWords>> = {
  design_approval: {
    name: 'design',
    choices: [
      approve('plan the tasks'),
      reject('rewrite the documents with your feedback'),
      edit('edit the documents yourself'),
    ],
    isDeclarable: true,
  },
  dag_approval: {
    name: 'plan',
    choices: [
      approve('start the tasks'),
      reject('write a new plan with your feedback'),
      edit('drop, reorder, split or change tasks yourself'),
    ],
    isDeclarable: true,
  },
  review: {
    name: 'code review',
    choices: [approve('continue'), reject('redo the work with your feedback')],
    isDeclarable: true,
  },
  node_gate: {
    name: 'node approval',
    choices: [approve('continue'), reject('do not run this step')],
    isDeclarable: false,
  },
  interrupt: {
    name: 'question',
    choices: [answer('value', 'the value for interrupt() to return, as JSON', '--value', '"yes"')],
    isDeclarable: false,
  },
  baseline: {
    name: 'failing checks',
    choices: [
      answer('again', 'run the checks again, now that you fixed them'),
      answer('first-task', 'let the first task fix them'),
      answer('accept', 'continue; checks that fail now may keep failing'),
      ABORT,
    ],
    isDeclarable: false,
  },
  task_failure: {
    name: 'stuck task',
    choices: [
      answer('retry', 'try again and reset the counters', '--retry', '--guidance', 'what to do differently'),
      answer('skip', 'skip the task and block the tasks that depend on it'),
      ABORT,
    ],
    isDeclarable: false,
  },
  recursion_limit: {
    name: 'lack of progress',
    choices: [answer('continue', 'continue for the same number of steps'), ABORT],
    isDeclarable: false,
  },
  budget: {
    name: 'budget',
    choices: [answer('raise', 'add to the budget and continue', '--raise-usd', '5'), ABORT],
    isDeclarable: false,
  },
  step: {
    name: 'recorded call',
    choices: [
      answer('use', 'use the recorded result'),
      answer('repeat', 'make the call, possibly for the second time'),
      ABORT,
    ],
    isDeclarable: false,
  },
};

/** Of a declared gate that asks for a value. */
const VALUE_CHOICES: readonly Choice[] = [
  answer('value', 'continue with this value, as JSON', '--value', '"yes"'),
  reject('do not run this step'),
];

/** Of a declared gate that takes a version of one's own, by what it is of. */
const VERSION_CHOICES = {
  artifact: answer('version', 'continue with your edited version, as JSON', '--edit', '"your text"'),
  args: answer('version', 'continue with your edited arguments, as JSON', '--edit', '{ "name": "value" }'),
} as const;

type Answerable = Pick<Gate, 'kind' | 'artifact' | 'takes'>;

/** What a human may say at this gate: a budget is raised where it was passed. */
export function choicesAt({ kind, artifact, takes }: Answerable): readonly Choice[] {
  const named = takes?.value === true ? VALUE_CHOICES : GATE_WORDS[kind].choices;
  const choices = takes?.edit === undefined ? named : [...named, VERSION_CHOICES[takes.edit]];
  if (!isPassedBudget(artifact)) return choices;
  return choices.map((choice) =>
    choice.name === 'raise' ? { ...choice, flags: raiseFlags(artifact) } : choice,
  );
}

const choicesOf = (gate: Gate['kind'] | Answerable): readonly Choice[] =>
  typeof gate === 'string' ? GATE_WORDS[gate].choices : choicesAt(gate);

/**
 * The command lines that answer a gate, to copy.
 *
 * @param gate - Its kind alone where what it shows is not known.
 */
export function choiceCommands(
  gate: Gate['kind'] | Answerable,
  words: readonly string[],
  devs: Session['devs'],
): readonly { readonly choice: Choice; readonly command: string }[] {
  return choicesOf(gate).map((choice) => ({
    choice,
    command: devs(choice.verb, ...words, ...choice.flags),
  }));
}

/**
 * Refuses an answer that its kind of gate does not take, and says which it does.
 *
 * @throws DevsError `INVALID_ANSWER`
 */
export function assertTakes(
  asked: Gate['kind'] | Answerable,
  name: ChoiceName,
  { gate, devs }: { readonly gate: string; readonly devs: Session['devs'] },
): void {
  if (choicesOf(asked).some((choice) => choice.name === name)) return;
  const kind = typeof asked === 'string' ? asked : asked.kind;
  const commands = choiceCommands(asked, [gate], devs).map(({ command }) => command);
  throw new DevsError(`A ${GATE_WORDS[kind].name} gate does not accept the answer "${name}".`, {
    code: 'INVALID_ANSWER',
    remedy: `Use one of these commands: ${commands.join(', or ')}.`,
    context: { kind },
  });
}

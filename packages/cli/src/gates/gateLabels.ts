import { DevsError, type Gate } from '@devs/core';
import type { Session } from '../project/Session.ts';
import { isPassedBudget, raiseFlags } from './passedBudget.ts';

/** An answer in the form its kind of gate takes. */
export type GateAnswerForm = Readonly<Record<string, unknown>>;

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

const approveChoice = (meaning: string): Choice => ({ name: 'approve', verb: 'approve', flags: [], meaning });
const reject = (meaning: string): Choice => ({
  name: 'reject',
  verb: 'reject',
  flags: ['--feedback', 'what should change'],
  meaning,
});
const editChoice = (meaning: string): Choice => ({ name: 'edit', verb: 'edit', flags: [], meaning });
const answerChoice = (name: ChoiceName, meaning: string, ...more: readonly string[]): Choice => ({
  name,
  verb: 'answer',
  flags: [...(more.length === 0 ? [`--${name}`] : more)],
  meaning,
});

const ABORT = answerChoice('abort', 'end the run');

/** A kind of gate as people meet it on the command line. */
export interface GateLabel {
  /** In a sentence. */
  readonly name: string;
  /** What a human may say at it. */
  readonly choices: readonly Choice[];
  /** Whether `devs run --yes` declares a policy for it. */
  readonly isDeclarable: boolean;
}

export const GATE_LABELS: Readonly<Record<Gate['kind'], GateLabel>> = {
  design_approval: {
    name: 'design',
    choices: [
      approveChoice('plan the tasks'),
      reject('rewrite the documents with your feedback'),
      editChoice('edit the documents yourself'),
    ],
    isDeclarable: true,
  },
  dag_approval: {
    name: 'plan',
    choices: [
      approveChoice('start the tasks'),
      reject('write a new plan with your feedback'),
      editChoice('drop, reorder, split or change tasks yourself'),
    ],
    isDeclarable: true,
  },
  review: {
    name: 'code review',
    choices: [approveChoice('continue'), reject('redo the work with your feedback')],
    isDeclarable: true,
  },
  node_gate: {
    name: 'node approval',
    choices: [approveChoice('continue'), reject('do not run this step')],
    isDeclarable: false,
  },
  interrupt: {
    name: 'question',
    choices: [answerChoice('value', 'the value for interrupt() to return, as JSON', '--value', '"yes"')],
    isDeclarable: false,
  },
  baseline: {
    name: 'failing checks',
    choices: [
      answerChoice('again', 'run the checks again, now that you fixed them'),
      answerChoice('first-task', 'let the first task fix them'),
      answerChoice('accept', 'continue; checks that fail now may keep failing'),
      ABORT,
    ],
    isDeclarable: false,
  },
  task_failure: {
    name: 'stuck task',
    choices: [
      answerChoice(
        'retry',
        'try again and reset the counters',
        '--retry',
        '--guidance',
        'what to do differently',
      ),
      answerChoice('skip', 'skip the task and block the tasks that depend on it'),
      ABORT,
    ],
    isDeclarable: false,
  },
  recursion_limit: {
    name: 'lack of progress',
    choices: [answerChoice('continue', 'continue for the same number of steps'), ABORT],
    isDeclarable: false,
  },
  budget: {
    name: 'budget',
    choices: [answerChoice('raise', 'add to the budget and continue', '--raise-usd', '5'), ABORT],
    isDeclarable: false,
  },
  step: {
    name: 'recorded call',
    choices: [
      answerChoice('use', 'use the recorded result'),
      answerChoice('repeat', 'make the call, possibly for the second time'),
      ABORT,
    ],
    isDeclarable: false,
  },
};

/** Of a declared gate that asks for a value. */
const VALUE_CHOICES: readonly Choice[] = [
  answerChoice('value', 'continue with this value, as JSON', '--value', '"yes"'),
  reject('do not run this step'),
];

/** Of a declared gate that takes a version of one's own, by what it is of. */
const VERSION_CHOICES = {
  artifact: answerChoice('version', 'continue with your edited version, as JSON', '--edit', '"your text"'),
  args: answerChoice(
    'version',
    'continue with your edited arguments, as JSON',
    '--edit',
    '{ "name": "value" }',
  ),
} as const;

/** At a question of LangChain's middleware, about all of its actions. */
const ACTIONS = {
  approve: approveChoice('call the tools'),
  reject: reject('call no tool and tell the agent why'),
} as const;
const DECISIONS = answerChoice(
  'value',
  'one decision for each action, as JSON',
  '--value',
  '{ "decisions": [{ "type": "approve" }] }',
);

type Answerable = Pick<Gate, 'kind' | 'artifact' | 'takes' | 'decisions'>;

/** What a human may say at this gate: a budget is raised where it was passed. */
export function choicesAt({ kind, artifact, takes, decisions }: Answerable): readonly Choice[] {
  if (decisions !== undefined) {
    const verdicts = (['approve', 'reject'] as const).filter((name) => decisions.includes(name));
    return [...verdicts.map((name) => ACTIONS[name]), DECISIONS];
  }
  const named = takes?.value === true ? VALUE_CHOICES : GATE_LABELS[kind].choices;
  const choices = takes?.edit === undefined ? named : [...named, VERSION_CHOICES[takes.edit]];
  if (!isPassedBudget(artifact)) return choices;
  return choices.map((choice) =>
    choice.name === 'raise' ? { ...choice, flags: raiseFlags(artifact) } : choice,
  );
}

const choicesOf = (gate: Gate['kind'] | Answerable): readonly Choice[] =>
  typeof gate === 'string' ? GATE_LABELS[gate].choices : choicesAt(gate);

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
  throw new DevsError(`A ${GATE_LABELS[kind].name} gate does not accept the answer "${name}".`, {
    code: 'INVALID_ANSWER',
    remedy: `Use one of these commands: ${commands.join(', or ')}.`,
    context: { kind },
  });
}

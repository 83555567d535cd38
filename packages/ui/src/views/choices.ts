import type { Gate, PipelineRunInfo } from '@devs/core';

/** One way to answer a gate, as a button. */
export interface GateChoice {
  readonly name: string;
  /** On the button, as a verb. */
  readonly label: string;
  /** On the button that sends it, where it is filled in first. @defaultValue the label */
  readonly send?: string;
  /** What it does. */
  readonly meaning: string;
  /** What is sent with it, besides what the person writes. */
  readonly answer:
    | { readonly approved: boolean }
    | { readonly action: string }
    | Readonly<Record<never, never>>;
  /** Under which name the person's words are sent; absent where there are none. */
  readonly words?: { readonly name: 'feedback' | 'guidance' | 'reason'; readonly isRequired: boolean };
  /** Its button carries the hash of what is approved. */
  readonly approves?: true;
  /** It carries the comments that were written, and may say nothing else. */
  readonly comments?: true;
  /** What besides words is filled in for it. */
  readonly form?: ChoiceForm;
}

/** What is filled in for a choice: it goes into the answer under the name of its kind, or as its members. */
export type ChoiceForm =
  /** JSON, as the schema of the gate has it. */
  | { readonly kind: 'value' }
  /** A version of one's own of what is shown: JSON, beginning with what is shown. */
  | { readonly kind: 'edit' }
  /** Documents or a plan, changed: the gate asks again about them. */
  | { readonly kind: 'proposal' }
  /** What to add to each limit that the next call would pass. */
  | { readonly kind: 'raise'; readonly sums: readonly Sum[] }
  /** Which of several: none is all of them. */
  | { readonly kind: 'tasks' | 'failures'; readonly names: readonly string[] };

export interface Sum {
  readonly measure: PipelineRunInfo['budget'][number]['measure'];
  /** The limit that is passed: as much again is what is proposed. */
  readonly limit: number;
}

const approveButton = (meaning: string): GateChoice => ({
  name: 'approve',
  label: 'Approve',
  meaning,
  answer: { approved: true },
  approves: true,
});

const sendBack = (meaning: string, label = 'Send back'): GateChoice => ({
  name: 'reject',
  label,
  meaning,
  answer: { approved: false },
  words: { name: 'feedback', isRequired: true },
  comments: true,
});

/** At a question of LangChain's middleware, about all of its actions. */
const ACTIONS: Readonly<Record<'approve' | 'reject', GateChoice>> = {
  approve: approveButton('the tools are called'),
  reject: {
    name: 'reject',
    label: 'Reject',
    meaning: 'no tool is called; the agent reads why',
    answer: { approved: false },
    words: { name: 'feedback', isRequired: true },
  },
};

const act = (action: string, label: string, meaning: string, words?: 'guidance' | 'reason'): GateChoice => ({
  name: action,
  label,
  meaning,
  answer: { action },
  ...(words && { words: { name: words, isRequired: false } }),
});

const VALUE: GateChoice = {
  name: 'value',
  label: 'Answer',
  meaning: 'the run continues with this value',
  answer: {},
  approves: true,
  form: { kind: 'value' },
};

const VERSION: GateChoice = {
  name: 'version',
  label: 'Edit',
  send: 'Approve my version',
  meaning: 'the run continues with your version',
  answer: {},
  form: { kind: 'edit' },
};

const EDIT: GateChoice = {
  ...act('edit', 'Edit', 'the gate asks again about your version, without approving it'),
  send: 'Propose this version',
  form: { kind: 'proposal' },
};

const RAISE: GateChoice = act('raise', 'Raise the budget', 'the call is made and the run continues');

const ABORT = act('abort', 'End the run', 'the run ends here', 'reason');

/** What a gate of this kind is about, in a sentence, and how it is answered here. */
export interface KindWords {
  readonly name: string;
  readonly choices: readonly GateChoice[];
}

/** Kinds that are not here, of a newer release, are answered in a terminal. */
const KINDS: Readonly<Partial<Record<Gate['kind'], KindWords>>> = {
  design_approval: {
    name: 'Design',
    choices: [
      approveButton('the tasks are planned'),
      sendBack('the documents are rewritten with your feedback'),
      EDIT,
    ],
  },
  dag_approval: {
    name: 'Plan',
    choices: [approveButton('the tasks start'), sendBack('a new plan is written with your feedback'), EDIT],
  },
  review: {
    name: 'Code',
    choices: [approveButton('the run continues'), sendBack('the work is redone with your feedback')],
  },
  node_gate: {
    name: 'Node approval',
    choices: [approveButton('the step runs'), sendBack('the step does not run', 'Reject')],
  },
  interrupt: { name: 'Question', choices: [VALUE] },
  baseline: {
    name: 'Failing checks',
    choices: [
      act('again', 'Check again', 'the checks run again, now that you fixed them'),
      act('first-task', 'Fix first', 'the first task fixes them'),
      act('accept', 'Accept', 'checks that fail now may keep failing'),
      ABORT,
    ],
  },
  task_failure: {
    name: 'Stuck task',
    choices: [
      act(
        'retry',
        'Try again',
        'resets the counters; your text is guidance for the next attempt',
        'guidance',
      ),
      act('skip', 'Skip the task', 'tasks that depend on it are blocked', 'reason'),
      ABORT,
    ],
  },
  recursion_limit: {
    name: 'Lack of progress',
    choices: [act('continue', 'Continue', 'for the same number of steps'), ABORT],
  },
  budget: { name: 'Budget', choices: [RAISE, ABORT] },
  step: {
    name: 'Recorded call',
    choices: [
      act('use', 'Use the recorded result', 'without a new call'),
      act('repeat', 'Make the call', 'possibly for the second time'),
      ABORT,
    ],
  },
};

export const gateLabel = (kind: Gate['kind']): KindWords => KINDS[kind] ?? { name: kind, choices: [] };

/** What a person may say at this gate, here. */
export function choiceButtons(
  gate: Pick<Gate, 'kind' | 'takes' | 'decisions' | 'artifact'>,
): readonly GateChoice[] {
  const { kind, takes = {} as NonNullable<Gate['takes']>, decisions = [] } = gate;
  const verdicts = (['approve', 'reject'] as const).filter((name) => decisions.includes(name));
  const named = [...verdicts.map((name) => ACTIONS[name]), ...gateLabel(kind).choices];
  const choices =
    takes.value === true ? [VALUE, ...named.filter(({ approves }) => approves !== true)] : named;
  const all = takes.edit === undefined ? choices : [...choices, VERSION];
  return all.map((choice) => withForm(choice, gate));
}

/** What is chosen from is what this gate shows. */
function withForm(choice: GateChoice, { kind, artifact }: Pick<Gate, 'kind' | 'artifact'>): GateChoice {
  const shown = (artifact ?? {}) as ShownParts;
  if (choice.name === 'raise') return { ...choice, form: { kind: 'raise', sums: sumsOf(shown) } };
  const names = namesOf(kind, shown);
  if (choice.name === 'reject' && names.length > 1) return { ...choice, form: { kind: 'tasks', names } };
  if (choice.name === 'accept' && names.length > 1) return { ...choice, form: { kind: 'failures', names } };
  return choice;
}

/** Of what a gate shows, the parts that are chosen from. */
interface ShownParts {
  readonly limits?: readonly Sum[];
  readonly taskIds?: readonly string[];
  readonly failing?: readonly string[];
}

function namesOf(kind: Gate['kind'], { taskIds = [], failing = [] }: ShownParts): readonly string[] {
  if (kind === 'review') return taskIds.map((id) => `T${id.split(':').at(-1)}`);
  return kind === 'baseline' ? failing : [];
}

/** One for each measure; a task and its run may both have passed theirs. */
function sumsOf({ limits = [] }: ShownParts): readonly Sum[] {
  const sums = new Map(limits.map(({ measure, limit }) => [measure, { measure, limit }]));
  return [...sums.values()];
}

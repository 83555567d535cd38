import type { Gate } from '@devs/core';

/** One way to answer a gate, as a button. */
export interface Choice {
  readonly name: string;
  /** On the button. */
  readonly label: string;
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
  readonly measure: 'usd' | 'tokens' | 'calls' | 'ms';
  /** The limit that is passed: as much again is what is proposed. */
  readonly limit: number;
}

const approve = (meaning: string): Choice => ({
  name: 'approve',
  label: 'Approve',
  meaning,
  answer: { approved: true },
  approves: true,
});

const sendBack = (meaning: string): Choice => ({
  name: 'reject',
  label: 'Send back',
  meaning,
  answer: { approved: false },
  words: { name: 'feedback', isRequired: true },
  comments: true,
});

const act = (action: string, label: string, meaning: string, words?: 'guidance' | 'reason'): Choice => ({
  name: action,
  label,
  meaning,
  answer: { action },
  ...(words && { words: { name: words, isRequired: false } }),
});

const VALUE: Choice = {
  name: 'value',
  label: 'Answer',
  meaning: 'the run goes on with this value',
  answer: {},
  approves: true,
  form: { kind: 'value' },
};

const VERSION: Choice = {
  name: 'version',
  label: 'Approve my version',
  meaning: 'the run goes on with what you wrote',
  answer: {},
  form: { kind: 'edit' },
};

const EDIT: Choice = {
  ...act('edit', 'Take my version', 'nothing is approved: the gate asks again, about your version'),
  form: { kind: 'proposal' },
};

const RAISE: Choice = act('raise', 'Add to it', 'the call is made, and the run goes on');

const ABORT = act('abort', 'End the run', 'the run ends here', 'reason');

/** What a gate of this kind is about, in a sentence, and how it is answered here. */
export interface KindWords {
  readonly name: string;
  readonly choices: readonly Choice[];
}

/** Kinds that are not here, of a newer release, are answered in a terminal. */
const KINDS: Readonly<Partial<Record<Gate['kind'], KindWords>>> = {
  design_approval: {
    name: 'Design',
    choices: [
      approve('the documents are broken down into tasks'),
      sendBack('they are written again with your feedback'),
      EDIT,
    ],
  },
  dag_approval: {
    name: 'Plan',
    choices: [approve('the tasks begin'), sendBack('the plan is made again with your feedback'), EDIT],
  },
  review: {
    name: 'Code',
    choices: [approve('the run goes on'), sendBack('the tasks are done again with your feedback')],
  },
  node_gate: { name: 'Next step', choices: [approve('it is done'), sendBack('it is not done')] },
  interrupt: { name: 'Question', choices: [VALUE] },
  baseline: {
    name: 'Red checks',
    choices: [
      act('again', 'Check again', 'you mended it: the checks run once more'),
      act('first-task', 'Mend it first', 'the first task mends it'),
      act('accept', 'Accept', 'what fails now may go on failing'),
      ABORT,
    ],
  },
  task_failure: {
    name: 'Stuck task',
    choices: [
      act('retry', 'Try again', 'with new counters, and your words for the next attempt', 'guidance'),
      act('skip', 'Give it up', 'what depends on it is blocked', 'reason'),
      ABORT,
    ],
  },
  recursion_limit: {
    name: 'No progress',
    choices: [act('continue', 'Go on', 'for as long again'), ABORT],
  },
  budget: { name: 'Budget', choices: [RAISE, ABORT] },
  step: {
    name: 'Recorded call',
    choices: [
      act('use', 'Take what is recorded', 'it is this call'),
      act('repeat', 'Make it again', 'it is another call, perhaps made a second time'),
      ABORT,
    ],
  },
};

export const wordsOf = (kind: Gate['kind']): KindWords => KINDS[kind] ?? { name: kind, choices: [] };

/** What a person may say at this gate, here. */
export function choicesAt(gate: Pick<Gate, 'kind' | 'takes' | 'artifact'>): readonly Choice[] {
  const { kind, takes = {} as NonNullable<Gate['takes']> } = gate;
  const named = wordsOf(kind).choices;
  const choices =
    takes.value === true ? [VALUE, ...named.filter(({ approves }) => approves !== true)] : named;
  const all = takes.edit === undefined ? choices : [...choices, VERSION];
  return all.map((choice) => withForm(choice, gate));
}

/** What is chosen from is what this gate shows. */
function withForm(choice: Choice, { kind, artifact }: Pick<Gate, 'kind' | 'artifact'>): Choice {
  const shown = (artifact ?? {}) as Shown;
  if (choice.name === 'raise') return { ...choice, form: { kind: 'raise', sums: sumsOf(shown) } };
  const names = namesOf(kind, shown);
  if (choice.name === 'reject' && names.length > 1) return { ...choice, form: { kind: 'tasks', names } };
  if (choice.name === 'accept' && names.length > 1) return { ...choice, form: { kind: 'failures', names } };
  return choice;
}

/** Of what a gate shows, the parts that are chosen from. */
interface Shown {
  readonly limits?: readonly Sum[];
  readonly taskIds?: readonly string[];
  readonly failing?: readonly string[];
}

function namesOf(kind: Gate['kind'], { taskIds = [], failing = [] }: Shown): readonly string[] {
  if (kind === 'review') return taskIds.map((id) => `T${id.split(':').at(-1)}`);
  return kind === 'baseline' ? failing : [];
}

/** One for each measure; a task and its run may both have passed theirs. */
function sumsOf({ limits = [] }: Shown): readonly Sum[] {
  const sums = new Map(limits.map(({ measure, limit }) => [measure, { measure, limit }]));
  return [...sums.values()];
}

import type { Gate, HitlSessionKind } from '@devs/core';

/** One way to answer a gate, as a button. */
export interface Choice {
  readonly name: string;
  /** On the button. */
  readonly label: string;
  /** What it does. */
  readonly meaning: string;
  /** What is sent with it, besides what the person writes. */
  readonly answer: { readonly approved: boolean } | { readonly action: string };
  /** Under which name the person's words are sent; absent where there are none. */
  readonly words?: { readonly name: 'feedback' | 'guidance' | 'reason'; readonly isRequired: boolean };
  /** Its button carries the hash of what is approved. */
  readonly approves?: true;
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
});

const act = (action: string, label: string, meaning: string, words?: 'guidance' | 'reason'): Choice => ({
  name: action,
  label,
  meaning,
  answer: { action },
  ...(words && { words: { name: words, isRequired: false } }),
});

const ABORT = act('abort', 'End the run', 'the run ends here', 'reason');

/** What a gate of this kind is about, in a sentence, and how it is answered here. */
export interface KindWords {
  readonly name: string;
  readonly choices: readonly Choice[];
}

/** The rest is answered in a terminal: sums for a budget, values of a question, kinds that are not here. */
const KINDS: Readonly<Partial<Record<HitlSessionKind, KindWords>>> = {
  design_approval: {
    name: 'Design',
    choices: [
      approve('the documents are broken down into tasks'),
      sendBack('they are written again with your feedback'),
    ],
  },
  dag_approval: {
    name: 'Plan',
    choices: [approve('the tasks begin'), sendBack('the plan is made again with your feedback')],
  },
  review: {
    name: 'Code',
    choices: [approve('the run goes on'), sendBack('the tasks are done again with your feedback')],
  },
  node_gate: { name: 'Next step', choices: [approve('it is done'), sendBack('it is not done')] },
  interrupt: { name: 'Question', choices: [] },
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
  budget: { name: 'Budget', choices: [ABORT] },
  step: {
    name: 'Recorded call',
    choices: [
      act('use', 'Take what is recorded', 'it is this call'),
      act('repeat', 'Make it again', 'it is another call, perhaps made a second time'),
      ABORT,
    ],
  },
};

export const wordsOf = (kind: HitlSessionKind): KindWords => KINDS[kind] ?? { name: kind, choices: [] };

/** What a person may say at this gate, here. */
export function choicesAt({ kind, takes }: Pick<Gate, 'kind' | 'takes'>): readonly Choice[] {
  const { choices } = wordsOf(kind);
  return takes?.value === true ? choices.filter(({ approves }) => approves !== true) : choices;
}

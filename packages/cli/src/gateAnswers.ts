import type { HitlSessionKind } from '@devs/core';

/** An answer in the form its kind of gate takes. */
type Answer = Readonly<Record<string, unknown>>;

export interface GateChoices {
  /** What `devs approve` means here, after "approve: ". */
  readonly approving: string;
  /** What `devs reject` means here. */
  readonly rejecting: string;
  readonly approve: (guidance: string | undefined) => Answer;
  readonly reject: (feedback: string) => Answer;
}

const approval = (approving: string, rejecting: string): GateChoices => ({
  approving,
  rejecting,
  approve: () => ({ approved: true }),
  reject: (feedback) => ({ approved: false, feedback }),
});

/** What yes and no mean at each kind of gate. */
export const GATE_CHOICES: Readonly<Record<HitlSessionKind, GateChoices>> = {
  design_approval: approval('break the documents down into tasks', 'write them again with your feedback'),
  dag_approval: approval('begin with the tasks', 'plan again with your feedback'),
  review: approval('go on', 'send it back with your feedback'),
  node_gate: approval('go on', 'do not do it'),
  task_failure: {
    approving: 'try again, with --guidance if you give some',
    rejecting: 'give the task up and go on without it',
    approve: (guidance) => ({ action: 'retry', guidance }),
    reject: (feedback) => ({ action: 'skip', guidance: feedback }),
  },
  recursion_limit: {
    approving: 'go on for as long again',
    rejecting: 'end the run',
    approve: () => ({ action: 'continue' }),
    reject: () => ({ action: 'abort' }),
  },
  budget: {
    approving: 'not possible here: a budget is raised by an amount, through the API',
    rejecting: 'end the run',
    approve: () => ({ action: 'raise' }),
    reject: () => ({ action: 'abort' }),
  },
};

import { DevsError, type HitlSessionKind } from '@devs/core';
import type { Session } from '../project/Session.ts';
import { GATE_NAMES } from '../render/sentence.ts';

/** An answer in the form its kind of gate takes. */
export type Answer = Readonly<Record<string, unknown>>;

export type ChoiceName = 'approve' | 'reject' | 'edit' | 'retry' | 'skip' | 'continue' | 'raise' | 'abort';

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

/** What a human may say at each kind of gate. */
export const GATE_CHOICES: Readonly<Record<HitlSessionKind, readonly Choice[]>> = {
  design_approval: [
    approve('break the documents down into tasks'),
    reject('write them again with your feedback'),
    edit('change them yourself'),
  ],
  dag_approval: [
    approve('begin with the tasks'),
    reject('plan again with your feedback'),
    edit('drop, reorder, split or change tasks yourself'),
  ],
  review: [approve('go on'), reject('have it done again with your feedback')],
  node_gate: [approve('go on'), reject('do not do it')],
  task_failure: [
    answer('retry', 'try again with new counters', '--retry', '--guidance', 'what to do differently'),
    answer('skip', 'give the task up; what depends on it is blocked'),
    ABORT,
  ],
  recursion_limit: [answer('continue', 'go on for as long again'), ABORT],
  budget: [answer('raise', 'add to the budget and go on', '--raise-usd', '5'), ABORT],
};

/** The command lines that answer a gate, to copy. */
export function choiceCommands(
  kind: HitlSessionKind,
  words: readonly string[],
  devs: Session['devs'],
): readonly { readonly choice: Choice; readonly command: string }[] {
  return GATE_CHOICES[kind].map((choice) => ({
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
  kind: HitlSessionKind,
  name: ChoiceName,
  { gate, devs }: { readonly gate: string; readonly devs: Session['devs'] },
): void {
  if (GATE_CHOICES[kind].some((choice) => choice.name === name)) return;
  const commands = choiceCommands(kind, [gate], devs).map(({ command }) => command);
  throw new DevsError(`The answer "${name}" fits no gate of this kind: ${GATE_NAMES[kind]}.`, {
    code: 'INVALID_ANSWER',
    remedy: `Decide it with ${commands.join(', or ')}.`,
    context: { kind },
  });
}

import type { EngineStore } from '../../engine/EngineStore.ts';
import { type StepSummary, stepKeyOf } from '../../state/steps/StepStore.ts';
import type { EarlierPlan } from './withoutLaterWork.ts';

/** What undone tasks have on the run's branch. */
export interface MadeByTasks {
  /** By task id, oldest first: a task that a human sent back has several. */
  readonly commits: ReadonlyMap<string, readonly string[]>;
  /** Step keys of commits that may have been made, too. */
  readonly begun: readonly string[];
}

/**
 * Read from the recorded steps: a visit that died after its commit has told the state nothing. What an earlier rewind took
 * out is left out, and so is what a task keeps.
 */
export function madeByTasks(
  threadId: string,
  { tasks, undone }: EarlierPlan,
  store: EngineStore,
): MadeByTasks {
  const steps = store.steps
    .listForThread(threadId)
    .filter(({ name, kind, taskId }) => name === 'commit' && kind === 'work' && isOneOf(undone, taskId));
  const gone = new Set(withdrawnBefore(threadId, store));
  const commits = undone.map(({ taskId }) => {
    const own = steps.filter((step) => step.taskId === taskId && step.state === 'done');
    const made = own.map((step) => commitOf(step, store)).filter((commit) => !gone.has(commit));
    const kept = tasks.find((task) => task.taskId === taskId)?.gitHash;
    return [taskId, kept === undefined ? made : made.slice(made.indexOf(kept) + 1)] as const;
  });
  const begun = steps.filter(({ state }) => state === 'intent').map(stepKeyOf);
  return { commits: new Map(commits), begun };
}

function withdrawnBefore(threadId: string, { rewinds }: EngineStore): readonly string[] {
  return rewinds
    .list(threadId)
    .filter(({ state }) => state !== 'undone')
    .flatMap(({ undone }) => undone.flatMap(({ commits }) => commits));
}

function commitOf(step: StepSummary, { steps }: EngineStore): string {
  const found = steps.find(step);
  return found?.state === 'done' ? String(found.result) : '';
}

const isOneOf = (tasks: EarlierPlan['undone'], id: string | null): boolean =>
  tasks.some(({ taskId }) => taskId === id);

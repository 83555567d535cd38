import type { LastComment } from '@devs/core/internal';
import type { GateView } from '../../src/views/gateView.ts';
import { isPlan, isReview, type Review } from '../artifacts.ts';
import { formatDollars, formatNumbered, taskTag } from '../words.ts';

type NamedGate = Pick<GateView, 'about' | 'artifact' | 'kind' | 'message' | 'taskId' | 'title'>;

/** Of a gate, in a path: `T3 code`, `Plan`. Pure. */
export function gateName({ about, artifact, taskId }: NamedGate): string {
  if (isReview(artifact)) return `${reviewedTags(artifact)} ${about.toLowerCase()}`;
  return /:\d+$/.test(taskId) ? `${taskTag(taskId)} ${about.toLowerCase()}` : about;
}

const reviewedTags = ({ tasks }: Review): string =>
  tasks.length < 3 ? tasks.map(({ taskId }) => taskTag(taskId)).join(' and ') : `${tasks.length} tasks`;

/** The question as a title. Pure. */
export function gateTitle(gate: NamedGate): string {
  const { artifact, kind, message, taskId, title } = gate;
  if (isReview(artifact)) {
    const [only] = artifact.tasks;
    if (artifact.tasks.length === 1 && only !== undefined) return `${taskTag(only.taskId)} ${only.name}`;
    return artifact.epicName ?? formatNumbered(artifact.tasks.length, 'task');
  }
  if (isPlan(artifact)) return `Build “${title}” in ${formatNumbered(artifact.tasks.length, 'task')}?`;
  return TITLES[kind]?.(title, taskTag(taskId)) ?? (message === '' ? title : message);
}

const TITLES: Readonly<Record<string, (title: string, task: string) => string>> = {
  design_approval: (title) => `Is this what “${title}” should be?`,
  baseline: () => 'Checks fail before the work begins',
  task_failure: (_title, task) => `${task} is stuck`,
  recursion_limit: (title) => `“${title}” makes no progress`,
  budget: (title) => `Raise the budget of “${title}”?`,
  step: () => 'A call may have been made already',
};

/** The gate's own message; empty for kinds with the same message at every gate. Pure. */
export const ownMessage = ({
  kind,
  message,
  artifact,
}: Pick<NamedGate, 'artifact' | 'kind' | 'message'>): string =>
  isReview(artifact) || kind === 'design_approval' || kind === 'dag_approval' ? '' : message;

/** Version, attempt and cost, as far as they are known. Pure. */
export function workWords({
  cost,
  versions,
  work,
}: Pick<GateView, 'cost' | 'versions' | 'work'>): readonly string[] {
  const spent =
    cost.costUsd === 0 && cost.unpriced > 0
      ? 'no price known'
      : work === null
        ? `${formatDollars(cost.costUsd)} so far`
        : `${formatDollars(work.costUsd)} of the run’s ${formatDollars(cost.costUsd)}`;
  return [
    ...(versions.length > 0 ? [`version ${versions.length + 1}`] : []),
    ...(work?.attempt == null ? [] : [`attempt ${work.attempt}`]),
    ...(cost.calls + cost.unpriced > 0 ? [spent] : []),
  ];
}

/** Whether the text that a comment quotes has become another one since. */
export const isAnswered = ({ since }: Pick<LastComment, 'since'>): boolean =>
  since === 'changed' || since === 'gone';

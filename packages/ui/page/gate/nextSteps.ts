import type { ShownGateView } from '../../src/views/gateView.ts';
import type { ShownRunView } from '../../src/views/runView.ts';
import { isReview } from '../artifacts.ts';
import { formatNumbered, shortHash, taskTag } from '../words.ts';

/** A step after a decision, or the decision itself. */
export interface NextStep {
  readonly words: string;
  /** In a few words; empty without any. */
  readonly detail: string;
  /** To type. */
  readonly command?: string;
  /** `waits`: a process must drive the run first. */
  readonly state: 'done' | 'works' | 'waits' | 'to come';
}

type Decided = Pick<ShownGateView, 'artifact' | 'closed' | 'kind'>;
type Going = Pick<ShownRunView, 'branch' | 'commits' | 'driver' | 'gates' | 'status' | 'tasks'>;

/** Runs that go nowhere. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'dead_letter']);

/**
 * The way from a decision on a proposal or on code to the end of the run. Empty after other decisions, and if the run
 * asks or has ended. Pure.
 */
export function nextSteps(view: Decided, run: Going): readonly NextStep[] {
  const { approved } = (view.closed?.decision ?? {}) as { readonly approved?: unknown };
  if (typeof approved !== 'boolean' || run.gates.length > 0 || ENDED.has(run.status)) return [];
  const steps = approved ? approvedSteps(view, run) : sentBackSteps(view);
  const next = run.driver === null ? 'waits' : 'works';
  return steps.map((step, at) => ({ ...step, state: at === 0 ? 'done' : at === 1 ? next : 'to come' }));
}

type Step = Omit<NextStep, 'state'>;

const step = (words: string, detail = ''): Step => ({ words, detail });

/** What is on the branch now is merged at the end, with what comes to it until then. */
const endSteps = ({ branch, commits }: Going): readonly Step[] =>
  branch === null
    ? [step('The run ends')]
    : [
        step('The run ends', `${formatNumbered(commits.length, 'commit')} on ${branch.name} so far`),
        { ...step('You merge'), command: branch.merge },
      ];

function approvedSteps({ artifact, kind }: Decided, run: Going): readonly Step[] {
  const { tasks } = run;
  const end = endSteps(run);
  if (kind === 'design_approval') {
    return [step('Design approved'), step('The plan is made'), step('Its tasks are worked on'), ...end];
  }
  if (kind === 'dag_approval') return [step('Plan approved'), ...taskSteps(tasks), ...end];
  if (!isReview(artifact)) return [];
  const tags = artifact.tasks.map(({ taskId }) => taskTag(taskId)).join(', ');
  const commit = `commit ${shortHash(artifact.range.to)} stays as it is`;
  return [step(`${tags} approved`, commit), ...taskSteps(tasks), ...end];
}

/** The task that begins next, and how many come after it. */
function taskSteps(tasks: Going['tasks']): readonly Step[] {
  const open = tasks.filter(({ status }) => status !== 'completed' && status !== 'skipped');
  const [first] = open;
  if (first === undefined) return [];
  const rest = open.length - 1;
  return [
    step(`${first.label} ${first.name}`, 'ends in one commit'),
    ...(rest > 0 ? [step(`${formatNumbered(rest, 'more task')}`)] : []),
  ];
}

function sentBackSteps({ artifact, closed, kind }: Decided): readonly Step[] {
  const again = step('You are asked again', 'with what has changed');
  if (kind === 'design_approval')
    return [step('Design sent back'), step('A new version is written', 'with your comments'), again];
  if (kind === 'dag_approval')
    return [step('Plan sent back'), step('A new version is made', 'with your comments'), again];
  if (!isReview(artifact)) return [];
  const tags = artifact.tasks.map(({ taskId }) => taskTag(taskId));
  const { tasks = tags.slice(-1) } = (closed?.decision ?? {}) as { readonly tasks?: readonly string[] };
  return [step('Code sent back'), step(`${tasks.join(', ')} again`, 'with your comments'), again];
}

/** The task before the approved ones: the run can go back to its end. `null` without one. Pure. */
export function wayBack({ artifact, closed }: Decided, tasks: Going['tasks']): string | null {
  const { approved } = (closed?.decision ?? {}) as { readonly approved?: unknown };
  if (approved !== true || !isReview(artifact)) return null;
  const shown = new Set(artifact.tasks.map(({ taskId }) => taskId));
  const at = tasks.findIndex(({ taskId }) => shown.has(taskId));
  return tasks.slice(0, Math.max(0, at)).findLast(({ status }) => status === 'completed')?.label ?? null;
}

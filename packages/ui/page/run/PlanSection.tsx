import type { RewindAnswer } from '../../src/views/rewindView.ts';
import type { PlannedTask, RunView } from '../../src/views/runView.ts';
import { PlanPicture } from '../graph/PlanPicture.tsx';
import type { Fates } from '../graph/pictures.ts';
import { formatDollars, shortHash } from '../words.ts';
import { TaskList } from './TaskList.tsx';
import type { Rewinding } from './useRewinding.ts';

/** The tasks with their states, as a picture and as a list; a rewind that is looked at is shown in both. */
export function PlanSection({ run, rewinding }: { readonly run: RunView; readonly rewinding: Rewinding }) {
  const { tasks } = run;
  const { selected, plan, choose } = rewinding;
  if (tasks.length === 0) return null;
  return (
    <section class="panel tasks" aria-label="Tasks">
      <header>
        <h2>Tasks</h2>
      </header>
      <PlanPicture
        tasks={tasks.map((task) => ({ ...task, detail: detailOf(task, run) }))}
        fates={fatesOf(plan.value)}
        selected={selected.value}
        onSelect={choose}
      />
      <TaskList run={run.id} tasks={tasks} selected={selected.value} onSelect={choose} />
    </section>
  );
}

/** Its commit and its cost, as far as they are known. */
function detailOf({ label, gitHash }: PlannedTask, { spending }: RunView): string {
  const spent = spending.tasks.find(({ name }) => name === label);
  return [
    ...(gitHash === null ? [] : [shortHash(gitHash)]),
    ...(spent === undefined || spent.cost.costUsd === 0 ? [] : [formatDollars(spent.cost.costUsd)]),
  ].join(', ');
}

const fatesOf = (plan: RewindAnswer['plan']): Fates | null =>
  plan && { target: plan.target.taskId, undone: new Set(plan.undone.map(({ taskId }) => taskId)) };

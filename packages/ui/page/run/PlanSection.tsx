import { useSignal } from '@preact/signals';
import type { RewindAnswer } from '../../src/views/rewindView.ts';
import type { RunView } from '../../src/views/runView.ts';
import { PlanPicture } from '../graph/PlanPicture.tsx';
import type { Fates } from '../graph/pictures.ts';
import { RewindPanel } from './RewindPanel.tsx';
import { TaskList } from './TaskList.tsx';

/** The tasks with their states, as a picture and as a list; and the way back to one of them. */
export function PlanSection({ run }: { readonly run: RunView }) {
  const selected = useSignal<string | null>(null);
  const preview = useSignal<RewindAnswer['plan']>(null);
  const { tasks } = run;
  if (tasks.length === 0) return null;
  const task = tasks.find(({ taskId }) => taskId === selected.value);
  const select = (taskId: string): void => {
    preview.value = null;
    selected.value = taskId === selected.value ? null : taskId;
  };
  return (
    <section class="panel tasks" aria-label="Tasks">
      <header>
        <h2>Tasks</h2>
      </header>
      <PlanPicture tasks={tasks} fates={fatesOf(preview.value)} selected={selected.value} onSelect={select} />
      <RewindPanel
        run={run}
        task={task}
        plan={preview.value}
        onPreview={(plan) => {
          preview.value = plan;
        }}
      />
      <TaskList run={run.id} tasks={tasks} selected={selected.value} onSelect={select} />
    </section>
  );
}

const fatesOf = (plan: RewindAnswer['plan']): Fates | null =>
  plan && { target: plan.target.taskId, undone: new Set(plan.undone.map(({ taskId }) => taskId)) };

import { useSignal } from '@preact/signals';
import type { GateCode } from '../../src/views/gateCode.ts';
import type { PlannedTask } from '../../src/views/runView.ts';
import { runPath } from '../api.ts';
import { ShownCode } from '../diff/CodeNotes.tsx';
import { Loading, Problem, Status } from '../parts.tsx';
import { useView } from '../useView.ts';
import { taskTag } from '../words.ts';

/** The tasks of a run in words: what each stands on, its state, and what its commit has changed. */
export function TaskList({ run, tasks, selected, onSelect }: TaskListOf) {
  return (
    <ul class="rows">
      {tasks.map((task) => (
        <TaskRow
          key={task.taskId}
          run={run}
          task={task}
          isSelected={task.taskId === selected}
          onSelect={() => onSelect(task.taskId)}
        />
      ))}
    </ul>
  );
}

interface TaskListOf {
  readonly run: string;
  readonly tasks: readonly PlannedTask[];
  readonly selected: string | null;
  readonly onSelect: (taskId: string) => void;
}

interface TaskRowOf {
  readonly run: string;
  readonly task: PlannedTask;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

function TaskRow({ run, task, isSelected, onSelect }: TaskRowOf) {
  const { label, name, status, gitHash, dependsOn } = task;
  const isOpen = useSignal(false);
  return (
    <li>
      <div class="row">
        <button
          type="button"
          class="btn quiet sm"
          aria-pressed={isSelected}
          aria-label={`${label}: choose this task`}
          onClick={onSelect}
        >
          {label}
        </button>
        <span class="grow">
          {name}
          {dependsOn.length > 0 && <span class="q3"> after {dependsOn.map(taskTag).join(', ')}</span>}
        </span>
        {gitHash !== null && (
          <button
            type="button"
            class="btn quiet sm"
            aria-expanded={isOpen.value}
            onClick={() => {
              isOpen.value = !isOpen.value;
            }}
          >
            <code>{gitHash.slice(0, 8)}</code>
          </button>
        )}
        <Status value={status} />
      </div>
      {gitHash !== null && isOpen.value && <Commit run={run} commit={gitHash} />}
    </li>
  );
}

function Commit({ run, commit }: { readonly run: string; readonly commit: string }) {
  const path = `${runPath(run)}/commits/${encodeURIComponent(commit)}`;
  const loaded = useView<{ readonly code: GateCode | null }>(path).value;
  if (loaded.kind === 'loading') return <Loading />;
  if (loaded.kind === 'error') return <Problem error={loaded.error} />;
  return <ShownCode code={loaded.view.code} />;
}

import type { PlanResult } from '@devs/core';
import { useSignal } from '@preact/signals';
import { keptJson } from './buildAnswer.ts';
import type { GateOnPage } from './gateOnPage.ts';
import {
  addTask,
  changeTask,
  dropTask,
  moveTask,
  type PlanTask,
  splitList,
  type TaskAt,
} from './planEdits.ts';

interface PlanFieldsOf {
  readonly plan: PlanResult;
  readonly gate: GateOnPage;
}

/** The plan as fields, in the order of the work. */
export function PlanFields({ plan: shown, gate: { store } }: PlanFieldsOf) {
  const kept = store.draft.value.fields['plan'] ?? '';
  const plan = keptJson<PlanResult>(kept) ?? shown;
  const change = (changed: PlanResult): void => {
    const text = JSON.stringify(changed);
    store.setField('plan', text === JSON.stringify(shown) ? '' : text);
  };
  return (
    <>
      {plan.epics.map((epic, at) => (
        <fieldset key={at}>
          <legend>{epic.name}</legend>
          {epic.tasks.map((task, index) => (
            <TaskFields
              key={task.key}
              task={task}
              at={{ epic: at, task: index }}
              plan={plan}
              change={change}
            />
          ))}
        </fieldset>
      ))}
      {kept !== '' && (
        <button type="button" class="btn quiet sm" onClick={() => store.setField('plan', '')}>
          Discard all changes
        </button>
      )}
    </>
  );
}

interface TaskFieldsOf {
  readonly task: PlanTask;
  readonly at: TaskAt;
  readonly plan: PlanResult;
  readonly change: (plan: PlanResult) => void;
}

function TaskFields({ task, at, plan, change }: TaskFieldsOf) {
  const set = (patch: Partial<PlanTask>): void => change(changeTask(plan, at, patch));
  return (
    <fieldset class="card" aria-label={`${task.key} ${task.name}`}>
      <p class="controls">
        <strong class="number">{task.key}</strong> <span class="grow" />
        <Act label="Up" act={() => change(moveTask(plan, at, -1))} />
        <Act label="Down" act={() => change(moveTask(plan, at, 1))} />
        <Act label="Add task below" act={() => change(addTask(plan, at))} />
        <Act label="Delete" act={() => change(dropTask(plan, at))} />
      </p>
      <Field label="Name" text={task.name} write={(name) => set({ name })} />
      <Field
        label="Description"
        rows={3}
        text={task.description}
        write={(text) => set({ description: text })}
      />
      <Field
        label="Depends on"
        text={task.dependsOn.join(', ')}
        write={(text) => set({ dependsOn: splitList(text, ',') })}
      />
      <Field
        label="Requirements"
        text={task.requirements.join(', ')}
        write={(text) => set({ requirements: splitList(text, ',') })}
      />
      <Field
        label="Criteria, one per line"
        rows={3}
        text={task.acceptanceCriteria.join('\n')}
        write={(text) => set({ acceptanceCriteria: splitList(text, '\n') })}
      />
    </fieldset>
  );
}

const Act = ({ label, act }: { readonly label: string; readonly act: () => void }) => (
  <button type="button" class="btn quiet sm" onClick={act}>
    {label}
  </button>
);

interface FieldOf {
  readonly label: string;
  readonly text: string;
  /** @defaultValue 1 */
  readonly rows?: number;
  readonly write: (text: string) => void;
}

/** What is typed stays as it is until the field is left: of a list, a comma that was just typed would be taken away. */
function Field({ label, text, rows = 1, write }: FieldOf) {
  const typed = useSignal<string | null>(null);
  return (
    <label>
      <span>{label}</span>
      <textarea
        rows={rows}
        value={typed.value ?? text}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          write(currentTarget.value);
        }}
        onBlur={() => {
          typed.value = null;
        }}
      />
    </label>
  );
}

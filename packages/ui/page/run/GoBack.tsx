import { useSignal } from '@preact/signals';
import type { RewindAnswer } from '../../src/views/rewindView.ts';
import type { PlannedTask, RunView } from '../../src/views/runView.ts';
import { Problem } from '../parts.tsx';
import { me } from '../state.ts';
import { formatClock, formatDollars, humanizeName } from '../words.ts';
import { formatRewindTarget, lastRewind } from './rewindWords.ts';
import { canRewind, isBegun, type Rewinding } from './useRewinding.ts';

interface GoBackOf {
  readonly run: RunView;
  readonly rewinding: Rewinding;
}

/** The way back to a task: choose it, read its effects, give a reason, go back. */
export function GoBack({ run, rewinding }: GoBackOf) {
  const tasks = run.tasks.filter(isBegun);
  const last = lastRewind(run.rewinds);
  if (me.value?.isReadOnly !== false || (tasks.length === 0 && last === null)) return null;
  return (
    <section class="panel go-back" aria-label="Go back">
      <header>
        <h2>Go back</h2>
      </header>
      <div class="rewinding">
        {canRewind(run) ? (
          <Ways run={run} tasks={tasks} rewinding={rewinding} />
        ) : (
          <p class="q2">Not while the run is driven.</p>
        )}
      </div>
    </section>
  );
}

function Ways({ run, tasks, rewinding }: GoBackOf & { readonly tasks: readonly PlannedTask[] }) {
  const { selected, plan, told, error, isSending, choose, send } = rewinding;
  const last = lastRewind(run.rewinds);
  return (
    <>
      {tasks.length > 0 && (
        <>
          <p class="q2">Choose a task. You see what it undoes before anything happens.</p>
          <fieldset aria-label="Go back to">
            {tasks.map((task) => (
              <Way
                key={task.taskId}
                task={task}
                isChosen={task.taskId === selected.value}
                onChoose={() => choose(task.taskId)}
              />
            ))}
          </fieldset>
        </>
      )}
      {plan.value !== null && <RewindDecision run={run} plan={plan.value} rewinding={rewinding} />}
      {last !== null && plan.value === null && (
        <LastRewind last={last} isSending={isSending.value} onUndo={() => void send({ way: 'undo' })} />
      )}
      <div role="status">
        {told.value.map((words) => (
          <p key={words}>{words}</p>
        ))}
      </div>
      {error.value !== null && <Problem error={error.value} />}
    </>
  );
}

interface WayOf {
  readonly task: PlannedTask;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

const Way = ({ task: { label, name, status, endedAt }, isChosen, onChoose }: WayOf) => (
  <label title={name}>
    <input type="radio" name="go-back" checked={isChosen} onChange={onChoose} />
    <span>
      {status === 'completed' ? 'End' : 'Start'} of <b>{label}</b>
    </span>
    {endedAt === null ? (
      <span class="q3">{humanizeName(status)}</span>
    ) : (
      <time class="q3 number" dateTime={endedAt}>
        {formatClock(endedAt).slice(0, 5)}
      </time>
    )}
  </label>
);

interface LastProps {
  readonly last: NonNullable<ReturnType<typeof lastRewind>>;
  readonly isSending: boolean;
  readonly onUndo: () => void;
}

const LastRewind = ({ last, isSending, onUndo }: LastProps) => (
  <p class="q2">
    Rewound to {last.target} by {last.principal}, undone: {last.undone.join(', ')}.{' '}
    <button type="button" class="btn sm" disabled={isSending} onClick={onUndo}>
      Undo the rewind
    </button>
  </p>
);

interface DecisionOf extends GoBackOf {
  readonly plan: NonNullable<RewindAnswer['plan']>;
}

function RewindDecision({ run, plan, rewinding: { isSending, choose, send } }: DecisionOf) {
  const reason = useSignal('');
  const where = formatRewindTarget(plan);
  const why = reason.value.trim() === '' ? {} : { reason: reason.value.trim() };
  const undone = plan.undone.map(({ label }) => label);
  return (
    <div class="plan">
      <Effects run={run} plan={plan} />
      <label class="why">
        <span>
          Why <span class="q3">for the record</span>
        </span>
        <textarea
          rows={2}
          value={reason}
          onInput={({ currentTarget }) => {
            reason.value = currentTarget.value;
          }}
        />
      </label>
      <div class="buttons">
        <button
          type="button"
          class="btn danger"
          disabled={isSending.value}
          onClick={() => void send({ way: 'back', task: plan.target.label, undone, ...why })}
        >
          Rewind the run {where}
        </button>
        <button type="button" class="btn quiet" onClick={() => choose(null)}>
          Cancel
        </button>
      </div>
    </div>
  );
}

function Effects({ run, plan }: Pick<DecisionOf, 'run' | 'plan'>) {
  const undone = new Set(plan.undone.map(({ label }) => label));
  const kept = run.tasks.filter(({ label, status }) => status === 'completed' && !undone.has(label));
  return (
    <>
      <p>
        <b>Undoes</b>
      </p>
      <ul class="fates">
        {plan.undone.map(({ taskId, label, name, status }) => (
          <li key={taskId} class="bad">
            <s>
              {label} {name}
            </s>
            <span class="q3">, {humanizeName(status)}</span>
          </li>
        ))}
        {run.gates.length > 0 && <li class="q2">open questions of the run are withdrawn</li>}
      </ul>
      <p>
        <b>Keeps</b>
      </p>
      <ul class="fates q2">
        <li>{[...kept.map(({ label }) => label), 'design and plan as approved'].join(', ')}</li>
        <li>{formatDollars(run.cost.costUsd)} stay on record</li>
      </ul>
      <p class="q2">
        A new commit removes their work from the branch. The history is kept, and the run is not resumed.
      </p>
    </>
  );
}

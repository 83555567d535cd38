import { useSignal } from '@preact/signals';
import type { PlannedTask } from '../../src/views/planView.ts';
import type { RewindAnswer } from '../../src/views/rewindView.ts';
import type { RunView } from '../../src/views/runView.ts';
import { Problem } from '../parts.tsx';
import { me } from '../state.ts';
import { plain } from '../words.ts';
import { lastRewind, whereTo } from './rewindWords.ts';
import { useRewinding } from './useRewinding.ts';

interface RewindPanelProps {
  readonly run: RunView;
  /** The task that is looked at. */
  readonly task: PlannedTask | undefined;
  /** What a person was told would be undone; `null` before they asked. */
  readonly plan: RewindAnswer['plan'];
  readonly onPreview: (plan: RewindAnswer['plan']) => void;
}

/** The way back to a task: first what it undoes, then the decision. Drives nothing. */
export function RewindPanel({ run, task, plan, onPreview }: RewindPanelProps) {
  const { send, told, error, isSending } = useRewinding(run.id, onPreview);
  const reason = useSignal('');
  if (me.value?.isReadOnly !== false) return null;
  const why = reason.value.trim() === '' ? {} : { reason: reason.value.trim() };
  const last = lastRewind(run.rewinds);
  return (
    <div class="rewinding">
      {task !== undefined && plan === null && (
        <p>
          <strong>{task.label}</strong> {task.name}, {plain(task.status)}.{' '}
          <button
            type="button"
            disabled={isSending.value}
            onClick={() => void send({ way: 'preview', task: task.label })}
          >
            Show what going back to {task.label} undoes
          </button>
        </p>
      )}
      {plan !== null && (
        <Decision
          plan={plan}
          isSending={isSending.value}
          onReason={(text) => {
            reason.value = text;
          }}
          onCancel={() => onPreview(null)}
          onBack={(undone) => void send({ way: 'back', task: plan.target.label, undone, ...why })}
        />
      )}
      {last !== null && plan === null && (
        <p class="quiet">
          Set back to {last.target} by {last.principal}, undone: {last.undone.join(', ')}.{' '}
          <button type="button" disabled={isSending.value} onClick={() => void send({ way: 'undo' })}>
            Take that back
          </button>
        </p>
      )}
      <div role="status">
        {told.value.map((words) => (
          <p key={words}>{words}</p>
        ))}
      </div>
      {error.value !== null && <Problem error={error.value} />}
    </div>
  );
}

interface DecisionProps {
  readonly plan: NonNullable<RewindAnswer['plan']>;
  readonly isSending: boolean;
  readonly onReason: (text: string) => void;
  readonly onBack: (undone: readonly string[]) => void;
  readonly onCancel: () => void;
}

function Decision({ plan, isSending, onReason, onBack, onCancel }: DecisionProps) {
  const where = whereTo(plan);
  return (
    <div class="banner">
      <p>Would set the run back {where} and undo:</p>
      <ul>
        {plan.undone.map(({ taskId, label, name, status }) => (
          <li key={taskId}>
            {label} {name}, {plain(status)}
          </li>
        ))}
      </ul>
      <label>
        <span>Why, for the record</span>
        <input type="text" onInput={({ currentTarget }) => onReason(currentTarget.value)} />
      </label>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={isSending}
          onClick={() => onBack(plan.undone.map(({ label }) => label))}
        >
          Set the run back {where}
          <small>
            their work leaves the branch by a new commit; nothing leaves its history, and nothing is driven
          </small>
        </button>
        <button type="button" onClick={onCancel}>
          Leave it as it is
        </button>
      </div>
    </div>
  );
}

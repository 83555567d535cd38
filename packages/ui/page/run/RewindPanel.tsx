import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { ErrorView } from '../../src/http/errors.ts';
import type { RewindAnswer, RewindWish } from '../../src/views/rewindView.ts';
import type { PlannedTask, RunView } from '../../src/views/runView.ts';
import { post, runPath } from '../api.ts';
import { Problem } from '../parts.tsx';
import { load, me, toErrorView } from '../state.ts';
import { humanizeName } from '../words.ts';
import { formatRewindResult, formatRewindTarget, lastRewind } from './rewindWords.ts';

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
        <PreviewOffer
          task={task}
          isSending={isSending.value}
          onPreview={() => void send({ way: 'preview', task: task.label })}
        />
      )}
      {plan !== null && (
        <RewindDecision
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
        <LastRewind last={last} isSending={isSending.value} onUndo={() => void send({ way: 'undo' })} />
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

interface OfferProps {
  readonly task: PlannedTask;
  readonly isSending: boolean;
  readonly onPreview: () => void;
}

const PreviewOffer = ({ task, isSending, onPreview }: OfferProps) => (
  <p>
    <strong>{task.label}</strong> {task.name}, {humanizeName(task.status)}.{' '}
    <button type="button" class="btn sm" disabled={isSending} onClick={onPreview}>
      Preview a rewind to {task.label}
    </button>
  </p>
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

interface DecisionProps {
  readonly plan: NonNullable<RewindAnswer['plan']>;
  readonly isSending: boolean;
  readonly onReason: (text: string) => void;
  readonly onBack: (undone: readonly string[]) => void;
  readonly onCancel: () => void;
}

function RewindDecision({ plan, isSending, onReason, onBack, onCancel }: DecisionProps) {
  const where = formatRewindTarget(plan);
  return (
    <div class="banner">
      <p>This rewinds the run {where} and undoes:</p>
      <ul>
        {plan.undone.map(({ taskId, label, name, status }) => (
          <li key={taskId}>
            {label} {name}, {humanizeName(status)}
          </li>
        ))}
      </ul>
      <label>
        <span>Reason for the record</span>
        <input type="text" onInput={({ currentTarget }) => onReason(currentTarget.value)} />
      </label>
      <p class="q2">
        A new commit removes their work from the branch. The history is kept, and the run is not resumed.
      </p>
      <div class="buttons">
        <button
          type="button"
          class="btn primary"
          disabled={isSending}
          onClick={() => onBack(plan.undone.map(({ label }) => label))}
        >
          Rewind the run {where}
        </button>
        <button type="button" class="btn quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

/** Setting a run back: what was asked last, and what came of it. */
interface Rewinding {
  readonly isSending: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<ErrorView | null>;
  /** What was done, in words. */
  readonly told: ReadonlySignal<readonly string[]>;
  readonly send: (wish: RewindWish) => Promise<void>;
}

/** @param onPreview - Told what would be undone; `null` once nothing is about to be. */
function useRewinding(run: string, onPreview: (plan: RewindAnswer['plan']) => void): Rewinding {
  const told = useSignal<readonly string[]>([]);
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const take = async (wish: RewindWish): Promise<void> => {
    const answer = await post<RewindAnswer>(`${runPath(run)}/rewind`, wish);
    const isToDecide = wish.way === 'preview' && answer.plan !== null;
    onPreview(isToDecide ? answer.plan : null);
    told.value = isToDecide ? [] : formatRewindResult(answer, wish.way, run);
    if (wish.way !== 'preview') await load();
  };
  const send = async (wish: RewindWish): Promise<void> => {
    isSending.value = true;
    error.value = await take(wish).then(
      () => null,
      (failure: unknown) => toErrorView(failure),
    );
    isSending.value = false;
  };
  return { told, error, isSending, send };
}

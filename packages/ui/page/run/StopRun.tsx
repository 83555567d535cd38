import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ErrorView } from '../../src/http/errors.ts';
import type { RunView } from '../../src/views/runView.ts';
import type { Stop, StopAnswer } from '../../src/views/stopView.ts';
import { post, runPath } from '../api.ts';
import { Ago, Problem } from '../parts.tsx';
import { load, me, toErrorView } from '../state.ts';
import { formatStopResult, STOP_WORDS } from './stopWords.ts';

/** Buttons that stop a run, and the result of the last one. */
export function StopRun({ run }: { readonly run: RunView }) {
  const { send, result, error, isSending } = useStopping(run);
  const isCancelling = useSignal(false);
  const mayStop = me.value?.isReadOnly === false && run.stops.length > 0;
  const choose = (stop: Stop): void => {
    isCancelling.value = stop === 'cancel';
    if (stop !== 'cancel') void send(stop);
  };
  const keep = (): void => {
    isCancelling.value = false;
    setTimeout(() => document.querySelector<HTMLElement>('#stop-cancel')?.focus());
  };
  const cancel = (): void => {
    isCancelling.value = false;
    void send('cancel');
  };
  return (
    <div class="stopping">
      {mayStop && !isCancelling.value && (
        <div class="buttons">
          {run.stops.map((stop) => (
            <StopButton key={stop} stop={stop} isOff={isSending} onClick={() => choose(stop)} />
          ))}
        </div>
      )}
      {mayStop && isCancelling.value && (
        <CancelDecision run={run} isOff={isSending} onCancel={cancel} onKeep={keep} />
      )}
      <div role="status">
        <Asked run={run} />
        {result !== null && <p>{result}</p>}
      </div>
      {error !== null && <Problem error={error} />}
    </div>
  );
}

/** Sends requests to stop a run, and follows the last one. */
function useStopping(run: RunView) {
  const asked = useSignal<Stop | null>(null);
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const send = async (stop: Stop): Promise<void> => {
    isSending.value = true;
    error.value = await post<StopAnswer>(`${runPath(run.id)}/stop`, { stop }).then(
      () => null,
      (failure: unknown) => toErrorView(failure),
    );
    asked.value = error.value === null ? stop : null;
    await load();
    isSending.value = false;
  };
  const result = asked.value === null ? null : formatStopResult(asked.value, run);
  return { send, result, error: error.value, isSending: isSending.value };
}

interface StopButtonOf {
  readonly stop: Stop;
  readonly isOff: boolean;
  readonly onClick: () => void;
}

const StopButton = ({ stop, isOff, onClick }: StopButtonOf) => (
  <button
    id={`stop-${stop}`}
    type="button"
    class="btn"
    disabled={isOff}
    title={STOP_WORDS[stop].meaning}
    onClick={onClick}
  >
    {STOP_WORDS[stop].label}
  </button>
);

/** The request of any person that the run has not followed yet. */
function Asked({ run: { stopping, driver } }: { readonly run: RunView }) {
  if (stopping === null) return null;
  return (
    <p>
      Asked {STOP_WORDS[stopping.stop].asked}
      {stopping.principal !== null && ` by ${stopping.principal}`} (<Ago at={stopping.at} />
      ).
      {driver === null && ' No process runs it at the moment.'}
    </p>
  );
}

interface CancelDecisionOf {
  readonly run: RunView;
  readonly isOff: boolean;
  readonly onCancel: () => void;
  readonly onKeep: () => void;
}

/** Explains a cancel before it is sent, as it cannot be undone. The focus is on the button that keeps the run. */
function CancelDecision({ run: { gates, tasks, title }, isOff, onCancel, onKeep }: CancelDecisionOf) {
  const keep = useRef<HTMLButtonElement>(null);
  // Before the next key: the button that had the focus is gone.
  useLayoutEffect(() => {
    keep.current?.focus();
  }, []);
  const withdrawn = gates.length === 1 ? 'Its open gate is withdrawn. ' : 'Its open gates are withdrawn. ';
  return (
    <fieldset
      class="banner"
      aria-label="Cancel the run"
      onKeyDown={({ key }) => {
        if (key === 'Escape') onKeep();
      }}
    >
      <p>
        <strong>Cancel {title}?</strong> The run ends for good, with its child runs, and calls in flight are
        aborted. {gates.length > 0 && withdrawn}
        {tasks.length > 0 ? 'Its commits and its log are kept. ' : 'Its log is kept. '}
        You cannot undo this or resume the run.
      </p>
      <div class="buttons">
        <button ref={keep} type="button" class="btn" disabled={isOff} onClick={onKeep}>
          Keep the run
        </button>
        <button type="button" class="btn primary" disabled={isOff} onClick={onCancel}>
          Cancel the run for good
        </button>
      </div>
    </fieldset>
  );
}

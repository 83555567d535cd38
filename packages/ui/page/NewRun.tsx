import { useSignal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import { post } from './api.ts';
import { Problem } from './parts.tsx';
import { runHref } from './place.ts';
import { me, toErrorView } from './state.ts';

/** Starts a run from a brief, where this page may. */
export function NewRun() {
  const brief = useSignal('');
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  if (me.value?.canStart !== true) return null;
  const start = async (): Promise<void> => {
    isSending.value = true;
    try {
      const { run } = await post<{ readonly run: string }>('api/runs', { brief: brief.value });
      location.hash = runHref(run);
    } catch (failure) {
      error.value = toErrorView(failure);
    }
    isSending.value = false;
  };
  return (
    <details class="panel new-run">
      <summary>New run from a brief</summary>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>What is to be built, and how one sees that it works</span>
          <textarea
            id="brief"
            rows={6}
            value={brief}
            onInput={({ currentTarget }) => {
              brief.value = currentTarget.value;
            }}
          />
        </label>
        <button
          type="button"
          class="btn primary send"
          disabled={isSending.value || brief.value.trim() === ''}
          onClick={() => void start()}
        >
          {isSending.value ? 'Starting…' : 'Start the run'}
        </button>
        {error.value !== null && <Problem error={error.value} />}
      </form>
    </details>
  );
}

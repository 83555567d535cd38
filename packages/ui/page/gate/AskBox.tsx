import { useSignal } from '@preact/signals';
import type { ErrorView } from '../../src/http/errors.ts';
import type { ShownGateView } from '../../src/views/gateView.ts';
import { gatePath, post } from '../api.ts';
import { Markdown } from '../Markdown.tsx';
import { Problem } from '../parts.tsx';
import { load, me, toErrorView } from '../state.ts';

/** What was asked and answered; and where somebody can be asked, the next question. Nothing is decided by it. */
export function AskBox({ view }: { readonly view: ShownGateView }) {
  const { exchanges, canAsk } = view;
  const isAsking = canAsk && me.value?.isReadOnly === false;
  if (exchanges.length === 0 && !isAsking) return null;
  return (
    <section class="asked" aria-label="Questions">
      <h2 class="h2">
        Questions <span class="q3">answers decide nothing</span>
      </h2>
      {exchanges.map(({ question, answer, principal, answeredAt }) => (
        <div key={answeredAt} class="note">
          <p>
            <span class="q3">{principal}:</span> {question}
          </p>
          <Markdown text={answer} />
        </div>
      ))}
      {isAsking && <Question view={view} />}
    </section>
  );
}

function Question({ view }: { readonly view: ShownGateView }) {
  const question = useSignal('');
  const error = useSignal<ErrorView | null>(null);
  const isAsking = useSignal(false);
  const ask = async (): Promise<void> => {
    isAsking.value = true;
    try {
      const { artifactHash } = view;
      await post(`${gatePath(view)}/question`, { artifactHash, question: question.value });
      question.value = '';
      error.value = null;
      await load();
    } catch (failure) {
      error.value = toErrorView(failure);
    }
    isAsking.value = false;
  };
  return (
    <form class="ask" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Ask the agent that wrote this; the call counts towards the budget</span>
        <textarea
          id="question"
          rows={2}
          value={question}
          onInput={({ currentTarget }) => {
            question.value = currentTarget.value;
          }}
        />
      </label>
      <div class="buttons">
        <button
          type="button"
          class="btn send"
          disabled={isAsking.value || question.value.trim() === ''}
          onClick={() => void ask()}
        >
          {isAsking.value ? 'Asking …' : 'Ask'}
        </button>
      </div>
      {error.value !== null && <Problem error={error.value} />}
    </form>
  );
}

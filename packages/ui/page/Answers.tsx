import { type Signal, useSignal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import type { Choice } from '../src/views/choices.ts';
import type { GateView } from '../src/views/gateView.ts';
import { post } from './api.ts';
import { draftOf, writeDraft } from './drafts.ts';
import { Problem } from './parts.tsx';
import { errorOf, load, me } from './state.ts';
import { shortHash } from './words.ts';

/** What a person says at the end of what they read. Their words stay until they are recorded. */
export function Answers({ view }: { readonly view: GateView }) {
  if (me.value?.isReadOnly !== false) return <ReadOnly />;
  if (view.choices.length === 0) return <InTerminal gate={view.sessionId} />;
  return <AnswerForm view={view} />;
}

function AnswerForm({ view }: { readonly view: GateView }) {
  const { sessionId, choices } = view;
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const draft = draftOf(sessionId);
  const give = async (choice: Choice): Promise<void> => {
    isSending.value = true;
    error.value = await failureOf(send(choice, view));
    isSending.value = false;
  };
  return (
    <form class="answers" onSubmit={(event) => event.preventDefault()}>
      {choices.some(({ words }) => words !== undefined) && <Words gate={sessionId} draft={draft} />}
      <div class="buttons">
        {choices.map((choice) => (
          <button
            key={choice.name}
            id={choice.name}
            type="button"
            class={choice.approves === true ? 'primary' : ''}
            disabled={isSending.value || (choice.words?.isRequired === true && draft.value.trim() === '')}
            onClick={() => void give(choice)}
          >
            {choice.label} {choice.approves === true && <code>{shortHash(view.artifactHash)}</code>}
            <small>{choice.meaning}</small>
          </button>
        ))}
      </div>
      <p class="quiet">as {me.value?.by.id}</p>
      {error.value !== null && <Problem error={error.value} />}
    </form>
  );
}

function Words({ gate, draft }: { readonly gate: string; readonly draft: Signal<string> }) {
  return (
    <label>
      <span>Your words</span>
      <textarea
        id="words"
        rows={4}
        value={draft}
        onInput={({ currentTarget }) => writeDraft(gate, currentTarget.value)}
      />
    </label>
  );
}

/** For what was read: the hash goes with it. */
async function send(
  { answer, words }: Choice,
  { sessionId, threadId, artifactHash }: GateView,
): Promise<void> {
  const at = `api/runs/${encodeURIComponent(threadId)}/gates/${encodeURIComponent(sessionId)}/decision`;
  const said = draftOf(sessionId).value;
  const spoken = words !== undefined && said.trim() !== '' ? { [words.name]: said } : {};
  await post(at, { artifactHash, answer: { ...answer, ...spoken } });
  writeDraft(sessionId, '');
  await load();
}

const failureOf = async (work: Promise<void>): Promise<ErrorView | null> =>
  work.then(
    () => null,
    (failure: unknown) => errorOf(failure),
  );

const ReadOnly = () => (
  <p class="banner">
    This page only reads: devs ui was not started in a terminal. Decide with <code>devs approve</code> or{' '}
    <code>devs reject</code>.
  </p>
);

const InTerminal = ({ gate }: { readonly gate: string }) => (
  <p class="banner">
    This is answered in a terminal: <code>devs show {gate.slice(0, 8)}</code> prints how.
  </p>
);

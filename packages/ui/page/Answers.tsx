import { useSignal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import type { GateChoice } from '../src/views/choices.ts';
import { gatePath, post } from './api.ts';
import { buildAnswer } from './gate/buildAnswer.ts';
import { ChoiceFields } from './gate/ChoiceFields.tsx';
import type { GateOnPage } from './gate/gateOnPage.ts';
import { Problem } from './parts.tsx';
import { load, me, toErrorView } from './state.ts';
import { formatCommentCount, formatPlaceName, shortHash } from './words.ts';

/** What a person says at the end of what they read. Their words stay until they are recorded. */
export function Answers({ gate }: { readonly gate: GateOnPage }) {
  if (me.value?.isReadOnly !== false) return <ReadOnly />;
  if (gate.view.choices.length === 0) return <InTerminal gate={gate.view.sessionId} />;
  return <AnswerForm gate={gate} />;
}

function AnswerForm({ gate }: { readonly gate: GateOnPage }) {
  const { view, store } = gate;
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const give = async (answer: object): Promise<void> => {
    isSending.value = true;
    error.value = await failureOf(sendGateAnswer(answer, gate));
    isSending.value = false;
  };
  return (
    <form class="answers" onSubmit={(event) => event.preventDefault()}>
      <OwnComments gate={gate} />
      {view.choices.some(({ words }) => words !== undefined) && <Words gate={gate} />}
      {view.choices.map((choice) => (
        <ChoiceFields key={choice.name} choice={choice} gate={gate} />
      ))}
      <div class="buttons">
        {view.choices.map((choice) => (
          <ChoiceButton
            key={choice.name}
            choice={choice}
            gate={gate}
            isOff={isSending.value}
            give={(answer) => void give(answer)}
          />
        ))}
      </div>
      <p class="quiet">
        as {me.value?.by.id}
        {store.draft.value.at > 0 &&
          (store.keeping.value === 'kept'
            ? '; your draft is saved on disk until you send it'
            : '; your draft is kept in this tab until you send it')}
      </p>
      {error.value !== null && <Problem error={error.value} />}
    </form>
  );
}

interface ChoiceButtonOf {
  readonly choice: GateChoice;
  readonly gate: GateOnPage;
  readonly isOff: boolean;
  readonly give: (answer: object) => void;
}

function ChoiceButton({ choice, gate: { view, store }, isOff, give }: ChoiceButtonOf) {
  const { name, label, meaning, approves, comments } = choice;
  const given = buildAnswer(choice, store.draft.value, view);
  const unsent = comments === true ? 0 : store.draft.value.comments.length;
  return (
    <button
      id={name}
      type="button"
      class={approves === true ? 'primary' : ''}
      disabled={isOff || given.kind === 'missing'}
      onClick={() => {
        if (given.kind === 'answer') give(given.answer);
      }}
    >
      {label} {approves === true && <code>{shortHash(view.artifactHash)}</code>}
      <small>{given.kind === 'missing' ? given.words : meaning}</small>
      {unsent > 0 && <small>not sent with it: {formatCommentCount(unsent)}</small>}
    </button>
  );
}

/** All of them once more, before they are sent. */
function OwnComments({ gate: { store, takesComments } }: { readonly gate: GateOnPage }) {
  const { comments } = store.draft.value;
  if (!takesComments || comments.length === 0) return null;
  return (
    <details class="written">
      <summary>{formatCommentCount(comments.length)}, sent when you reject</summary>
      <ul>
        {comments.map(({ in: place, line, text }, at) => (
          <li key={at}>
            {formatPlaceName(place)}, line {line}: {text === '' ? <em>empty, not sent</em> : text}{' '}
            <button
              type="button"
              class="plain"
              onClick={() => store.change({ comments: comments.filter((_, other) => other !== at) })}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Words({ gate: { store } }: { readonly gate: GateOnPage }) {
  return (
    <label>
      <span>Your text</span>
      <textarea
        id="words"
        rows={4}
        value={store.draft.value.words}
        onInput={({ currentTarget }) => store.change({ words: currentTarget.value })}
      />
    </label>
  );
}

/** For what was read: the hash goes with it. */
async function sendGateAnswer(answer: object, { view, store }: GateOnPage): Promise<void> {
  const { artifactHash } = view;
  await post(`${gatePath(view)}/decision`, { artifactHash, answer });
  store.forget();
  await load();
}

const failureOf = async (work: Promise<void>): Promise<ErrorView | null> =>
  work.then(
    () => null,
    (failure: unknown) => toErrorView(failure),
  );

const ReadOnly = () => (
  <p class="banner">
    This page is read-only: devs ui was not started in a terminal. Decide with <code>devs approve</code> or{' '}
    <code>devs reject</code>.
  </p>
);

const InTerminal = ({ gate }: { readonly gate: string }) => (
  <p class="banner">
    Answer this gate in a terminal: <code>devs show {gate.slice(0, 8)}</code> prints the commands.
  </p>
);

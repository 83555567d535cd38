import { useEffect, useRef } from 'preact/hooks';
import type { GateChoice } from '../../src/views/choices.ts';
import { formatCommentCount, formatPlaceName } from '../words.ts';
import { buildAnswer } from './buildAnswer.ts';
import { ChoiceFields } from './ChoiceFields.tsx';
import type { GateOnPage } from './gateOnPage.ts';

interface ChoiceSheetOf {
  readonly choice: GateChoice;
  readonly gate: GateOnPage;
  readonly isSending: boolean;
  readonly give: (answer: object) => void;
}

/** The form of a choice, above the bar. An edited version is written in the place of the original. */
export function ChoiceSheet({ choice, gate, isSending, give }: ChoiceSheetOf) {
  const { view, store } = gate;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('textarea, input, select, button')?.focus();
  }, [choice.name]);
  const given = buildAnswer(choice, store.draft.value, view);
  const send = (): void => {
    if (given.kind === 'answer') give(given.answer);
  };
  const close = (): void => {
    store.open.value = null;
    document.querySelector<HTMLElement>(`#${choice.name}`)?.focus();
  };
  return (
    <form ref={form} class="sheet" aria-label={choice.label} onSubmit={(event) => event.preventDefault()}>
      {choice.words !== undefined && <Words gate={gate} choice={choice} />}
      {!isInPlace(choice) && <ChoiceFields choice={choice} gate={gate} />}
      {choice.comments === true && <OwnComments gate={gate} />}
      <div class="row wrap">
        <button
          id={`send-${choice.name}`}
          type="button"
          class="btn primary send"
          disabled={isSending || given.kind === 'missing'}
          onClick={send}
        >
          {sendLabel(choice, gate)}
        </button>
        <button type="button" class="btn quiet cancel" onClick={close}>
          {isInPlace(choice) ? 'Discard' : 'Cancel'}
        </button>
        <span class="q2 hint">{given.kind === 'missing' ? given.words : `Then ${choice.meaning}.`}</span>
      </div>
    </form>
  );
}

/** Whether its fields take the place of the artifact. */
export const isInPlace = ({ form }: GateChoice): boolean =>
  form?.kind === 'edit' || form?.kind === 'proposal';

/** Its effect, with the number of comments. */
function sendLabel({ label, send = label, comments }: GateChoice, { store }: GateOnPage): string {
  const count = store.draft.value.comments.filter(({ text }) => text.trim() !== '').length;
  return comments === true && count > 0 ? `${send} with ${formatCommentCount(count)}` : send;
}

function Words({ gate: { store }, choice }: Pick<ChoiceSheetOf, 'gate' | 'choice'>) {
  return (
    <label>
      <span>{WORDS[choice.words?.name ?? 'feedback']}</span>
      <textarea
        id="words"
        rows={3}
        value={store.draft.value.words}
        onInput={({ currentTarget }) => store.change({ words: currentTarget.value })}
      />
    </label>
  );
}

const WORDS = {
  feedback: 'What should change',
  guidance: 'What to do differently',
  reason: 'Reason for the record',
} as const;

/** All of them once more, before they are sent. */
function OwnComments({ gate: { store, takesComments } }: { readonly gate: GateOnPage }) {
  const { comments } = store.draft.value;
  if (!takesComments || comments.length === 0) return null;
  return (
    <ul class="written">
      {comments.map(({ in: place, line, text }, at) => (
        <li key={at} class="row">
          <span class="q3 nw">
            {formatPlaceName(place)}, line {line}
          </span>
          <span class="grow">{text === '' ? <em>empty, not sent</em> : text}</span>
          <button
            type="button"
            class="btn quiet sm"
            aria-label={`Remove the comment on line ${line} of ${formatPlaceName(place)}`}
            onClick={() => store.change({ comments: comments.filter((_, other) => other !== at) })}
          >
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}

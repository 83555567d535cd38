import { useSignal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import type { GateChoice } from '../src/views/choices.ts';
import { gatePath, post } from './api.ts';
import { goesOn, goOnAfterDecision } from './flow.ts';
import { type AnswerDraft, buildAnswer } from './gate/buildAnswer.ts';
import { ChoiceSheet } from './gate/ChoiceSheet.tsx';
import type { GateOnPage } from './gate/gateOnPage.ts';
import { Icon } from './icons.tsx';
import { Problem } from './parts.tsx';
import { gateHref } from './place.ts';
import { load, me, toErrorView } from './state.ts';
import { formatCommentCount, humanizeName, shortHash } from './words.ts';

interface GateBarOf {
  readonly gate: GateOnPage;
  /** A note at the end, such as the number of files that were not viewed. */
  readonly note?: string;
}

/** The answers of a gate, always on the screen. */
export function DecisionBar({ gate, note = '' }: GateBarOf) {
  return (
    <section class="decide" aria-label="Your decision">
      <BarOf gate={gate} note={note} />
    </section>
  );
}

function BarOf({ gate, note = '' }: GateBarOf) {
  const { view } = gate;
  if (!view.isOpen) return <Closed gate={gate} />;
  const command = view.choices.length === 0 ? 'show' : 'approve';
  if (me.value?.isReadOnly !== false || view.choices.length === 0)
    return <InTerminal gate={gate} command={command} />;
  return <Deciding gate={gate} note={note} />;
}

function Deciding({ gate, note = '' }: GateBarOf) {
  const { view, store } = gate;
  const { give, error, isSending } = useGiving(gate);
  const open = view.choices.find(({ name }) => name === store.open.value);
  const [first] = view.choices;
  return (
    <>
      {open !== undefined && (
        <ChoiceSheet choice={open} gate={gate} isSending={isSending} give={(answer) => void give(answer)} />
      )}
      {error !== null && <Problem error={error} />}
      <div class="in">
        {view.choices.map((choice, at) => (
          <ChoiceButton
            key={choice.name}
            choice={choice}
            isMore={at >= ON_PHONE}
            gate={gate}
            isOff={isSending}
            give={(answer, isOn) =>
              void give(choice.approves === true ? withNote(answer, note) : answer, isOn)
            }
          />
        ))}
        {view.canAsk && (
          <button type="button" id="ask" class="btn hide-s" onClick={askAgent}>
            <Icon name="ask" />
            Ask
          </button>
        )}
        <span class="then">{isSending ? 'Recording…' : first?.approves && `Then ${first.meaning}.`}</span>
        <span class="grow" />
        <span class="seal">
          {note !== '' && <span>{note}</span>}
          <Keeping gate={gate} />
          <Icon name="lock" />
          <span class="vh">exactly this version</span>
          <code title={view.artifactHash}>{shortHash(view.artifactHash)}</code>
        </span>
        <PhoneMenu view={view} note={note} isOff={isSending} />
      </div>
    </>
  );
}

/** Answers that a phone has room for; the others are in its menu. */
const ON_PHONE = 2;

interface PhoneMenuOf {
  readonly view: GateOnPage['view'];
  readonly note: string;
  readonly isOff: boolean;
}

/** Further answers on a phone: its items press the hidden buttons of the bar. */
function PhoneMenu({ view, note, isOff }: PhoneMenuOf) {
  const press = (id: string) => (): void => document.getElementById(id)?.click();
  const [first] = view.choices;
  const isSplit = first?.approves === true && first.form === undefined && me.value?.canDrive === true;
  const items: readonly (readonly [label: string, act: () => void])[] = [
    ...(isSplit ? [[`${first.label} only`, press('approve-only')] as const] : []),
    ...view.choices.slice(ON_PHONE).map(({ name, label }) => [label, press(name)] as const),
    ...(view.canAsk ? [['Ask', askAgent] as const] : []),
  ];
  return (
    <>
      <button type="button" class="btn only-s" popovertarget="more" aria-label="More">
        …
      </button>
      <div class="menu" id="more" popover="auto">
        {items.map(([label, act]) => (
          <button
            key={label}
            type="button"
            class="btn quiet"
            popovertarget="more"
            popovertargetaction="hide"
            disabled={isOff}
            onClick={act}
          >
            {label}
          </button>
        ))}
        <p class="q3">
          {note !== '' && `${note}. `}
          Exactly this version: <code>{shortHash(view.artifactHash)}</code>
        </p>
      </div>
    </>
  );
}

/** The record has the number of files that were not viewed. */
const withNote = (answer: object, note: string): object =>
  note === '' ? answer : { ...answer, feedback: `${note}.` };

const askAgent = (): void => document.querySelector<HTMLElement>('#question')?.focus();

/** The place of the draft, once there is one. */
function Keeping({ gate: { store } }: { readonly gate: GateOnPage }) {
  if (store.draft.value.at === 0) return null;
  return <span>{store.keeping.value === 'kept' ? 'draft saved on disk' : 'draft kept in this tab'}</span>;
}

interface ChoiceButtonOf {
  readonly choice: GateChoice;
  /** Whether it is in the menu of a phone. */
  readonly isMore: boolean;
  readonly gate: GateOnPage;
  readonly isOff: boolean;
  /** @param isOn - Whether the run goes on then, by this page. */
  readonly give: (answer: object, isOn: boolean) => void;
}

/** Sends an answer without a form at once, and opens the sheet of any other. */
function ChoiceButton({ choice, isMore, gate, isOff, give }: ChoiceButtonOf) {
  const { view, store } = gate;
  const isFilledIn = choice.words !== undefined || choice.form !== undefined;
  const isOpen = store.open.value === choice.name;
  const given = isFilledIn ? null : buildAnswer(choice, store.draft.value, view);
  const approvesOn = choice.approves === true && me.value?.canDrive === true;
  const press = (): void => {
    if (given === null) store.open.value = isOpen ? null : choice.name;
    else if (given.kind === 'answer') give(given.answer, approvesOn || goesOn());
  };
  const button = (
    <MainButton
      choice={choice}
      isMore={isMore}
      given={given}
      count={store.draft.value.comments.length}
      isOpen={isOpen}
      isOff={isOff}
      isOn={approvesOn}
      onPress={press}
    />
  );
  if (!approvesOn || given === null) return button;
  const only = (): void => {
    if (given.kind === 'answer') give(given.answer, false);
  };
  return (
    <span class="split-btn">
      {button}
      <MoreWays label={choice.label} isOff={isOff} onOnly={only} />
    </span>
  );
}

interface MainButtonOf {
  readonly choice: GateChoice;
  readonly isMore: boolean;
  /** `null` where it is written in a sheet. */
  readonly given: AnswerDraft | null;
  /** Comments of the draft. */
  readonly count: number;
  /** Whether its sheet is open. */
  readonly isOpen: boolean;
  readonly isOff: boolean;
  /** Whether the run goes on then. */
  readonly isOn: boolean;
  readonly onPress: () => void;
}

function MainButton({ choice, isMore, given, count, isOpen, isOff, isOn, onPress }: MainButtonOf) {
  const { name, label, meaning, comments } = choice;
  const unsent = comments !== true && given !== null && count > 0;
  return (
    <button
      id={name}
      type="button"
      class={buttonClass(choice, isMore)}
      disabled={isOff || given?.kind === 'missing'}
      title={unsent ? `${meaning}; not sent with it: ${formatCommentCount(count)}` : meaning}
      {...(given === null && { 'aria-expanded': isOpen })}
      onClick={onPress}
    >
      {label}
      {isOn && given !== null && ' and go on'}
      {comments === true && count > 0 && <span class="count on">{count}</span>}
    </button>
  );
}

const buttonClass = ({ approves }: GateChoice, isMore: boolean): string =>
  `btn ${approves === true ? 'primary' : ''} ${isMore ? 'hide-s' : ''}`;

interface MoreWaysOf {
  readonly label: string;
  readonly isOff: boolean;
  /** Gives the answer; the run does not go on by it. */
  readonly onOnly: () => void;
}

const MoreWays = ({ label, isOff, onOnly }: MoreWaysOf) => (
  <>
    <button
      type="button"
      class="btn primary more-ways"
      popovertarget="only"
      aria-label={`More ways to ${label.toLowerCase()}`}
    >
      <Icon name="down" />
    </button>
    <span class="menu" id="only" popover="auto">
      <button type="button" id="approve-only" class="btn quiet" disabled={isOff} onClick={onOnly}>
        {label} only
      </button>
    </span>
  </>
);

/** Sends a decision. The draft stays until the decision is recorded. */
function useGiving(gate: GateOnPage) {
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const give = async (answer: object, isOn = goesOn()): Promise<void> => {
    isSending.value = true;
    error.value = await sendGateAnswer(answer, gate, isOn).then(
      () => null,
      (failure: unknown) => toErrorView(failure),
    );
    isSending.value = false;
  };
  return { give, error: error.value, isSending: isSending.value };
}

/** With the hash of the version that was read. */
async function sendGateAnswer(answer: object, { view, store }: GateOnPage, isOn: boolean): Promise<void> {
  const { artifactHash } = view;
  await post(`${gatePath(view)}/decision`, { artifactHash, answer });
  store.forget();
  await load();
  if (isOn) await goOnAfterDecision(view.threadId);
}

/** Somebody has decided, or it asks about something else by now. */
function Closed({ gate: { view } }: { readonly gate: GateOnPage }) {
  const { closed, next, threadId } = view;
  const by = closed?.principal == null ? '' : ` by ${closed.principal}`;
  return (
    <div class="in" role="status">
      <span class="then">
        This gate is closed: {humanizeName(closed?.status ?? 'closed')}
        {by}.
      </span>
      <span class="grow" />
      {next !== null && (
        <a class="btn primary" href={gateHref(threadId, next)}>
          Open the current gate
        </a>
      )}
    </div>
  );
}

/** The command to type where the page does not decide. */
function InTerminal({ gate: { view }, command }: { readonly gate: GateOnPage; readonly command: string }) {
  const why =
    view.choices.length === 0 ? 'Answered in a terminal:' : 'This page is read-only. To decide, type';
  return (
    <div class="in">
      <span class="then">
        {why} <code class="command">{`devs ${command} ${view.sessionId.slice(0, 8)}`}</code>
      </span>
      <span class="grow" />
      <span class="seal">
        <Icon name="lock" />
        <code title={view.artifactHash}>{shortHash(view.artifactHash)}</code>
      </span>
    </div>
  );
}

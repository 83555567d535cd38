import { useSignal } from '@preact/signals';
import type { ErrorView } from '../src/http/errors.ts';
import { drive, goesOn, setGoesOn } from './flow.ts';
import { Icon } from './icons.tsx';
import { Problem } from './parts.tsx';
import { me, toErrorView } from './state.ts';

interface GoOnOf {
  readonly run: string;
  /** On the button. @defaultValue Go on */
  readonly label?: string;
  /** Whether the screen is about this run alone. */
  readonly isMain?: boolean;
}

/** The button that goes on with a run, where this page may; and the command, which is right anywhere. */
export function GoOn({ run, label = 'Go on', isMain = false }: GoOnOf) {
  const { press, error, isSending } = useDriving(run);
  const canDrive = me.value?.canDrive === true;
  return (
    <>
      <span class="row wrap go-on">
        {canDrive && (
          <button
            type="button"
            class={`btn go ${isMain ? 'primary' : 'sm'}`}
            disabled={isSending}
            onClick={() => void press()}
          >
            <Icon name="play" />
            {isSending ? 'Starting…' : label}
          </button>
        )}
        {isMain && canDrive && <span class="q3">or in a terminal</span>}
        {(isMain || !canDrive) && <Command words={`devs resume ${run}`} />}
      </span>
      {error !== null && <Problem error={error} />}
    </>
  );
}

/** Asks the page to go on with a run. */
function useDriving(run: string) {
  const error = useSignal<ErrorView | null>(null);
  const isSending = useSignal(false);
  const press = async (): Promise<void> => {
    isSending.value = true;
    error.value = await drive(run).then(
      () => null,
      (failure: unknown) => toErrorView(failure),
    );
    isSending.value = false;
  };
  return { press, error: error.value, isSending: isSending.value };
}

/** A command to type, and to take along. */
export function Command({ words }: { readonly words: string }) {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(words);
    isCopied.value = true;
  };
  return (
    <span class="cmd">
      <code class="command">{words}</code>
      <button
        type="button"
        class="btn quiet sm"
        aria-label={isCopied.value ? 'Copied' : `Copy the command ${words}`}
        onClick={() => void copy().catch(() => undefined)}
      >
        <Icon name={isCopied.value ? 'check' : 'copy'} />
      </button>
    </span>
  );
}

/** Off at first; of this person, in this browser. */
export function GoesOnByItself() {
  const isOn = useSignal(goesOn());
  if (me.value?.canDrive !== true) return null;
  return (
    <label class="keep row">
      <input
        type="checkbox"
        checked={isOn.value}
        onChange={({ currentTarget }) => {
          setGoesOn(currentTarget.checked);
          isOn.value = currentTarget.checked;
        }}
      />
      Go on by itself after my next decisions
    </label>
  );
}

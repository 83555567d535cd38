import { Icon } from './icons.tsx';

/** The keys of `listenToKeys`. */
const SECTIONS: readonly {
  readonly title: string;
  readonly keys: readonly (readonly [words: string, keys: string])[];
}[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Inbox', 'g i'],
      ['This run', 'g r'],
      ['Next that waits', 'g n'],
      ['Search', '/'],
      ['Next, previous row or line', 'j k'],
      ['Open, comment', 'Enter'],
      ['Close, leave a field', 'Esc'],
    ],
  },
  {
    title: 'Reading',
    keys: [
      ['Comment on the line or selection', 'c'],
      ['Next, previous comment', 'n p'],
      ['Changes since you read it', 'd'],
      ['Next, previous file or section', '] ['],
      ['File viewed', 'v'],
      ['Split or unified', 'u'],
    ],
  },
  {
    title: 'Deciding',
    keys: [
      ['To the button that approves', 'a'],
      ['Send back', 'r'],
      ['Edit', 'e'],
      ['Ask a question', 'q'],
      ['Send what you wrote', 'Ctrl Enter'],
    ],
  },
];

/** The help under `?`. */
export function KeysSheet() {
  return (
    <div class="keys" id="keys" popover="auto" role="dialog" aria-label="Keys">
      <header>
        <b>Keys</b>
        <span class="grow" />
        <button
          type="button"
          class="btn quiet sm"
          popovertarget="keys"
          popovertargetaction="hide"
          aria-label="Close"
        >
          <Icon name="cross" />
        </button>
      </header>
      <div class="cols">
        {SECTIONS.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([words, text]) => (
                <KeyRow key={words} words={words} keys={text.split(' ')} />
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="q3 note-below">
        No single key decides: <kbd>a</kbd> moves to the button, <kbd>Enter</kbd> presses it.
      </p>
    </div>
  );
}

const KeyRow = ({ words, keys }: { readonly words: string; readonly keys: readonly string[] }) => (
  <>
    <dt>{words}</dt>
    <dd>
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </dd>
  </>
);

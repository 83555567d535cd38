import type { LastComment } from '@devs/core/internal';
import { type ReadonlySignal, type Signal, signal, useComputed } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Draft } from '../../src/drafts/Draft.ts';
import type { GateView, ShownGateView } from '../../src/views/gateView.ts';
import { gatePath, get, post } from '../api.ts';
import { me } from '../state.ts';
import { type Anchor, lineNow, placeText } from './anchors.ts';

type Comment = Draft['comments'][number];

/** A gate as a person works at it: what they have written, and what was said before. */
export interface GateOnPage {
  readonly view: ShownGateView;
  readonly store: DraftStore;
  /** Whether comments can be written: it is open, and takes a no. */
  readonly takesComments: boolean;
}

export const GateContext = createContext<GateOnPage | null>(null);

export const useGate = (): GateOnPage | null => useContext(GateContext);

const stores = new Map<string, DraftStore>();

/** The same for as long as the tab is open: what is written outlives every reading of the gate. */
export function gateOnPage(view: ShownGateView): GateOnPage {
  const isReader = me.value?.isReadOnly !== false;
  const key = `${view.sessionId} ${view.artifactHash}`;
  let store = stores.get(key);
  if (store === undefined) {
    store = new DraftStore(view);
    stores.set(key, store);
    if (!isReader && view.isOpen) beginDraft(view, store);
  }
  const takesComments = !isReader && view.choices.some(({ comments }) => comments === true);
  return { view, store, takesComments };
}

/** The first time: what is on disk is taken, and that they are shown it is recorded. Neither is in the way of reading. */
function beginDraft(view: GateView, store: DraftStore): void {
  const { artifactHash } = view;
  store.load().catch(() => undefined);
  post(`${gatePath(view)}/shown`, { artifactHash }).catch(() => undefined);
}

/** Before the page goes, and when it is put aside: nothing waits for a pause any more. */
export function keepDraftsWhenLeft(): void {
  addEventListener('visibilitychange', () => {
    for (const store of stores.values()) store.flush();
  });
}

/** The comment that was just begun, to be written at once. */
export const begun = signal<number | null>(null);

export function beginComment({ store }: GateOnPage, anchor: Anchor): void {
  const { comments } = store.draft.value;
  begun.value = comments.length;
  store.change({ comments: [...comments, { ...anchor, text: '' }] });
}

export interface CommentThread {
  readonly own: readonly { readonly comment: Comment; readonly index: number }[];
  readonly last: readonly LastComment[];
}

const NOTHING: CommentThread = { own: [], last: [] };

/** What is said of a line. @param isOf - Whether a line is shown there; a block of rendered text has several. */
export function threadAt(
  { view, store }: GateOnPage,
  place: string,
  isOf: (line: number) => boolean,
): CommentThread {
  const own = store.draft.value.comments
    .map((comment, index) => ({ comment, index }))
    .filter(({ comment }) => isIn(view, comment.in, place) && isOf(comment.line ?? 1));
  const last = lastPlaced(view)
    .filter(({ comment, line }) => isIn(view, comment.in, place) && isOf(line))
    .map(({ comment }) => comment);
  return own.length + last.length === 0 ? NOTHING : { own, last };
}

/** Once for each reading of a gate: every line of it asks. */
function memoized<Of extends object, Value>(make: (of: Of) => Value): (of: Of) => Value {
  const made = new WeakMap<Of, Value>();
  return (of) => {
    const value = made.get(of) ?? make(of);
    made.set(of, value);
    return value;
  };
}

const lastPlaced = memoized(({ lastComments, places }: GateView) =>
  lastComments.map((comment) => {
    const text = placeText(places, comment.in);
    return { comment, line: text === null ? (comment.line ?? 1) : lineNow(comment, text) };
  }),
);

const linesByName = memoized(
  ({ places }: GateView) =>
    new Map(places.flatMap(({ names, texts: [text] }) => names.map((name) => [name, text.split('\n')]))),
);

/** The lines of a place; none where its text is not on the page. */
export const placeLines = (view: GateView, place: string): readonly string[] =>
  linesByName(view).get(place) ?? [];

/** A task is known by its label and its id. */
const isIn = ({ places }: GateView, name: string, place: string): boolean =>
  name === place || places.some(({ names }) => names.includes(name) && names.includes(place));

/** The lines of a place that something is said of, as one text: it changes with them alone, not with every word. */
export function useThreadLines(gate: GateOnPage | null, place: string): ReadonlySignal<string> {
  return useComputed(() => {
    if (gate === null) return '';
    const { own, last } = threadAt(gate, place, () => true);
    return [...own.map(({ comment }) => comment.line), ...last.map(({ line }) => line)].join(' ');
  });
}

/** Between the last stroke and what is sent to be kept, ms. */
const STILL_MS = 300;

const NAME = 'devs-draft ';
const EMPTY: Draft = { at: 0, words: '', comments: [], fields: {} };

type DraftGate = Pick<GateView, 'sessionId' | 'threadId' | 'artifactHash'>;

/** `kept`: in a file of this machine. `tab`: in this tab alone. */
type Keeping = 'kept' | 'tab';

/** What a person has written at one version of a gate and not sent. In the tab at once, on disk when they pause. */
class DraftStore {
  readonly draft: Signal<Draft>;
  readonly keeping = signal<Keeping>('tab');
  /** The name of the choice that is being filled in. */
  readonly open = signal<string | null>(null);
  readonly #of: DraftGate;
  readonly #name: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(of: DraftGate) {
    this.#of = of;
    this.#name = `${NAME}${of.sessionId} ${of.artifactHash}`;
    this.draft = signal(newer(EMPTY, fromTab(this.#name)));
  }

  /** Takes what is on disk where that is newer: written in another tab, or before this browser was started. */
  async load(): Promise<void> {
    const path = `${gatePath(this.#of)}/drafts/${this.#of.artifactHash}`;
    const { draft } = await get<{ readonly draft: Draft | null }>(path);
    if (newer(this.draft.value, draft) === this.draft.value) return;
    this.draft.value = newer(this.draft.value, draft);
    this.keeping.value = 'kept';
  }

  change(patch: Partial<Draft>): void {
    this.draft.value = { ...this.draft.value, ...patch, at: Date.now() };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), STILL_MS);
    keepInTab(this.#name, this.draft.value);
  }

  setField(name: string, value: string): void {
    this.change({ fields: { ...this.draft.value.fields, [name]: value } });
  }

  /** One after the other: the newest is written last. */
  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#last = this.#last.then(() => this.#send());
  }

  /** For a page that goes; nothing is sent where nothing is new. */
  flush(): void {
    if (this.#timer !== undefined) this.save();
  }

  /** It was sent: whoever recorded it has deleted the file. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.draft.value = EMPTY;
    this.open.value = null;
    sessionStorage.removeItem(this.#name);
  }

  async #send(): Promise<void> {
    const { artifactHash } = this.#of;
    const draft = isEmptyDraft(this.draft.value) ? null : this.draft.value;
    try {
      const { isKept } = await post<{ readonly isKept: boolean }>(`${gatePath(this.#of)}/draft`, {
        artifactHash,
        draft,
      });
      this.keeping.value = isKept ? 'kept' : 'tab';
    } catch {
      this.keeping.value = 'tab';
    }
  }
}

const isEmptyDraft = ({ words, comments, fields }: Draft): boolean =>
  words === '' && comments.length === 0 && Object.values(fields).every((value) => value === '');

const newer = (one: Draft, other: Draft | null): Draft => (other !== null && other.at > one.at ? other : one);

/** A browser has no room for a very long text here; the file has. */
function keepInTab(name: string, draft: Draft): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(name);
  }
}

function fromTab(name: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}

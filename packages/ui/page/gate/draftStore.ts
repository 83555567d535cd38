import { type Signal, signal } from '@preact/signals';
import type { Draft } from '../../src/drafts/Draft.ts';
import type { GateView } from '../../src/views/gateView.ts';
import { gatePath, get, post } from '../api.ts';

/** Between the last stroke and what is sent to be kept, ms. */
const STILL_MS = 300;

const NAME = 'devs-draft ';
const EMPTY: Draft = { at: 0, words: '', comments: [], fields: {} };

type DraftGate = Pick<GateView, 'sessionId' | 'threadId' | 'artifactHash'>;

/** `kept`: in a file of this machine. `tab`: in this tab alone. */
export type Keeping = 'kept' | 'tab';

/** What a person has written at one version of a gate and not sent. In the tab at once, on disk when they pause. */
export class DraftStore {
  readonly draft: Signal<Draft>;
  readonly keeping = signal<Keeping>('tab');
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

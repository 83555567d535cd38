import type { Activity, PlanEntry } from '../../events/Activity.ts';
import { LineMasker } from '../../masking/LineMasker.ts';
import { maskAtGate } from '../../masking/maskAtGate.ts';
import { maskStart } from '../../masking/maskSensitiveData.ts';
import type { Mask } from '../../masking/safeCut.ts';

/** Kinds that come in pieces. */
type StreamKind = 'text' | 'thought' | 'output';

/** Characters of what is said in a line. */
const MAX_LINE = 500;

/** Characters of one edit. */
const MAX_DIFF = 64 * 1024;

/** Characters of a prompt. */
const MAX_PROMPT = 512 * 1024;

/** Entries of a plan. */
const MAX_PLAN = 100;

/** What an agent asks to do is shown as gates show it: a mask that guesses could hide what it was allowed. */
const maskAsked: Mask = (text) => asAsked(text);

/** As gates mask what an agent asked to do, also a record of it. */
export const asAsked = <T>(value: T): T => maskAtGate(value, { gate: 'permission' }).view;

/**
 * Masks what a step tells, in the order it is told: pieces of texts line by line, all else at once. A text ends where its
 * agent goes on to something else; what a command prints may go on beside it.
 */
export class ActivityMasker {
  readonly #streams: Readonly<Record<StreamKind, LineMasker>> = {
    text: new LineMasker(),
    thought: new LineMasker(),
    output: new LineMasker(),
  };

  /** What can be shown at once. */
  push(activity: Activity): readonly Activity[] {
    if (activity.kind === 'usage') return [{ kind: 'usage', usage: figures(activity.usage) }];
    if (!('text' in activity))
      return [...this.#ended('thought'), ...this.#ended('text'), maskedActivity(activity)];
    const { kind } = activity;
    const before = kind === 'output' ? [] : this.#ended(kind === 'text' ? 'thought' : 'text');
    this.#streams[kind].push(String(activity.text));
    return before;
  }

  /** Whether a text waits that the last {@link take} did not get to. */
  get isBehind(): boolean {
    return Object.values(this.#streams).some((stream) => stream.isBehind);
  }

  /** Lines that are whole by now. */
  take(): readonly Activity[] {
    return this.#each((stream) => stream.take());
  }

  /** Says that something was left out. */
  skip(): readonly Activity[] {
    return this.#each((stream) => stream.skip());
  }

  /** The rest. */
  end(): readonly Activity[] {
    return this.#each((stream) => stream.end());
  }

  #ended(kind: StreamKind): readonly Activity[] {
    return nonEmptyActivity(kind, this.#streams[kind].end());
  }

  #each(read: (stream: LineMasker) => string): readonly Activity[] {
    return (['thought', 'text', 'output'] as const).flatMap((kind) =>
      nonEmptyActivity(kind, read(this.#streams[kind])),
    );
  }
}

function nonEmptyActivity(kind: StreamKind, text: string): readonly Activity[] {
  return text === '' ? [] : [{ kind, text }];
}

type Whole = Exclude<Activity, { readonly kind: StreamKind | 'usage' }>;

function maskedActivity(activity: Whole): Activity {
  switch (activity.kind) {
    case 'prompt':
      return { kind: 'prompt', prompt: maskStart(String(activity.prompt), MAX_PROMPT) };
    case 'tool': {
      const { kind, id, name, state, detail } = activity;
      return {
        kind,
        id: line(id),
        name: line(name),
        state,
        ...(detail !== undefined && { detail: line(detail) }),
      };
    }
    case 'diff':
      return { kind: 'diff', path: line(activity.path), diff: maskStart(String(activity.diff), MAX_DIFF) };
    case 'plan':
      return { kind: 'plan', entries: activity.entries.slice(0, MAX_PLAN).map(maskedPlanEntry) };
    case 'permission': {
      const { kind, title, granted, why } = activity;
      return {
        kind,
        title: maskStart(String(title), MAX_LINE, maskAsked),
        granted,
        why: maskStart(String(why), MAX_LINE, maskAsked),
      };
    }
    case 'doing':
      return { kind: 'doing', what: line(activity.what) };
  }
}

const maskedPlanEntry = ({ text, state }: PlanEntry): PlanEntry => ({ text: line(text), state });

/** What an agent calls its model may be anything; a figure that is none is left out, as a file cannot hold it. */
function figures({ model, ...counts }: Extract<Activity, { readonly kind: 'usage' }>['usage']) {
  const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => Number.isFinite(count)));
  return { ...known, ...(model !== undefined && { model: line(model) }) };
}

const line = (text: string): string => maskStart(String(text), MAX_LINE);

import { gateInterrupt } from '@devs/core';
import type { StreamEvent } from '@devs/core/langgraph';
import type { SentEvent } from '../http/eventStream.ts';
import { PartialMessages } from './PartialMessages.ts';
import type { SentMode } from './RunBody.ts';

/** The modes that a client asked for. */
export interface AskedEvents {
  readonly modes: ReadonlySet<SentMode>;
  readonly subgraphs: boolean;
}

type Engines = 'updates' | 'values' | 'custom' | 'messages';

/** The modes of the engine that those of a client are made of. */
export function engineModes({ modes }: AskedEvents): readonly Engines[] {
  const made: Readonly<Record<Engines, readonly SentMode[]>> = {
    updates: ['updates'],
    values: ['values', 'messages'],
    custom: ['custom'],
    messages: ['messages', 'messages-tuple', 'events'],
  };
  const all = Object.entries(made) as [Engines, readonly SentMode[]][];
  return all.flatMap(([engine, sent]) => (sent.some((mode) => modes.has(mode)) ? [engine] : []));
}

/** Events of a run as the run API sends them. Those of one stored event are one group, which its last `id` stands for. */
export class RunEvents {
  readonly #asked: AskedEvents;
  readonly #partial = new PartialMessages();

  constructor(asked: AskedEvents) {
    this.#asked = asked;
  }

  groupOf(event: StreamEvent): readonly SentEvent[] {
    const { modes } = this.#asked;
    switch (event.mode) {
      case 'updates':
      case 'custom':
        return modes.has(event.mode) ? stored(event.seq, [this.#named(event, event.data)]) : [];
      case 'values':
        return stored(event.seq, this.#values(event));
      case 'messages':
        return this.#messages(event);
      case 'gate':
        return stored(event.seq, this.#interrupt(event));
      case 'end':
        return event.status === 'failed' || event.status === 'dead_letter'
          ? stored(event.seq, [{ event: 'error', data: runFailure(event.reason) }])
          : [];
      case 'turn':
      case 'restarted':
        return [];
    }
  }

  #named({ mode, ns }: { readonly mode: string; readonly ns: readonly string[] }, data: unknown): SentEvent {
    return { event: this.#asked.subgraphs ? [mode, ...ns].join('|') : mode, data };
  }

  #values(event: Extract<StreamEvent, { mode: 'values' }>): readonly SentEvent[] {
    const { modes } = this.#asked;
    const complete = modes.has('messages') ? this.#partial.complete(event.data) : [];
    return [...complete, ...(modes.has('values') ? [this.#named(event, event.data)] : [])];
  }

  #messages({
    chunk,
    metadata = {},
    ...event
  }: Extract<StreamEvent, { mode: 'messages' }>): readonly SentEvent[] {
    const { modes } = this.#asked;
    if (chunk === undefined) return [];
    return [
      ...(modes.has('messages-tuple') ? [this.#named(event, [chunk, metadata])] : []),
      ...(modes.has('messages') ? this.#partial.add(chunk, metadata) : []),
      ...(modes.has('events') ? [modelEvent(event.id, chunk, metadata)] : []),
    ];
  }

  #interrupt({ gate }: Extract<StreamEvent, { mode: 'gate' }>): readonly SentEvent[] {
    const { modes } = this.#asked;
    const data = { __interrupt__: [gateInterrupt(gate)] };
    const wanted = (['updates', 'values'] as const).filter((mode) => modes.has(mode));
    return wanted.map((event) => ({ event, data }));
  }
}

/** The last of a group has the position that a client goes on after. */
function stored(seq: number, events: readonly SentEvent[]): readonly SentEvent[] {
  return events.map((event, at) => (at === events.length - 1 ? { ...event, id: String(seq) } : event));
}

/** Why a run failed. The reason of a run begins with the name of its error. */
export function runFailure(reason: string | null): { readonly error: string; readonly message: string } {
  const [, name, message] = /^(\w*(?:Error|Exception)): ([\s\S]*)$/.exec(reason ?? '') ?? [];
  return { error: name ?? 'Error', message: message ?? reason ?? 'The run failed.' };
}

/** A piece of a model's text as LangChain's `streamEvents` sends it: some clients read this form only. */
const modelEvent = (
  runId: string,
  chunk: unknown,
  metadata: Readonly<Record<string, unknown>>,
): SentEvent => ({
  event: 'events',
  data: {
    event: 'on_chat_model_stream',
    run_id: runId,
    name: metadata['ls_model_name'] ?? 'model',
    tags: [],
    metadata,
    data: { chunk },
  },
});

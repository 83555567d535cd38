import { LineMasker } from '../../masking/LineMasker.ts';
import { maskInTurns } from '../../masking/maskView.ts';
import { shownGate } from '../gates/Gate.ts';
import { type StreamEvent, tellerOf } from './StreamEvent.ts';

/** A text that comes in pieces. */
interface StreamedText<Event> {
  readonly masker: LineMasker;
  /** The newest piece: what was held back is shown as more of it. */
  readonly last: Event;
}

/**
 * Returns a run's stream for people and logs, each event masked with the broad rules. The pieces of one model call are
 * masked as one text, and so are consecutive texts of one task in `config.writer`: a word appears when it is complete,
 * a quotation when it is closed. A piece without visible text has empty `data`, or is left out if it has no `seq`; its
 * text follows in a later event.
 *
 * @example
 * ```ts
 * for await (const event of maskStream(app.stream('run', input))) response.write(JSON.stringify(event));
 * ```
 */
export async function* maskStream<Event extends StreamEvent>(
  events: AsyncIterable<Event>,
): AsyncGenerator<Event, void> {
  const texts = new Map<string, StreamedText<Event>>();
  for await (const event of events) {
    const key = streamKey(event);
    const isText = key !== null && 'data' in event && typeof event.data === 'string';
    for (const [other, text] of texts) {
      if ((isText && other === key) || !isTextOver(text, other === key, event)) continue;
      texts.delete(other);
      if (event.mode !== 'restarted') yield* restOf(text);
    }
    if (isText) yield* maskedPieces(withoutPiece(event), key, texts);
    else yield event.mode === 'gate' ? { ...event, gate: shownGate(event.gate) } : await maskInTurns(event);
  }
  for (const text of texts.values()) yield* restOf(text);
}

/** The piece holds the same text unmasked. */
function withoutPiece<Event extends StreamEvent>(event: Event): Event {
  if (event.mode !== 'messages') return event;
  const { chunk: _, metadata: __, ...shown } = event;
  return shown as Event;
}

/** The part of a text that can be shown by now. */
function* maskedPieces<Event extends StreamEvent>(
  event: Event,
  key: string,
  texts: Map<string, StreamedText<Event>>,
): Generator<Event> {
  const { masker } = texts.get(key) ?? { masker: new LineMasker({ by: 'word' }) };
  texts.set(key, { masker, last: event });
  masker.push((event as { readonly data: string }).data);
  const data = masker.take();
  if (data !== '' || 'seq' in event) yield { ...event, data };
}

/** What belongs together: a call of a model, and what a task tells. */
function streamKey(event: StreamEvent): string | null {
  if (event.mode === 'messages') return `messages ${event.id}`;
  return event.mode === 'custom' ? (tellerOf(event) ?? `custom ${event.ns.join('|')}`) : null;
}

/** Whether an event says that nothing more of a text comes. Tasks beside each other tell in turn: what one tells ends no other's text. */
function isTextOver<Event extends StreamEvent>(
  { last }: StreamedText<Event>,
  isOfSame: boolean,
  event: Event,
): boolean {
  if (event.mode === 'gate' || event.mode === 'end') return true;
  if (event.mode === 'values') return event.ns.length === 0;
  if (last.mode !== 'messages') return isOfSame;
  if (event.mode === 'updates') return Object.hasOwn(event.data as object, last.node);
  return event.mode === 'restarted' && event.task === last.task;
}

function* restOf<Event extends StreamEvent>({ masker, last }: StreamedText<Event>): Generator<Event> {
  const data = masker.end();
  if (data !== '') yield { ...last, data };
}

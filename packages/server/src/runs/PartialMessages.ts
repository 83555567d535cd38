import type { SentEvent } from '../http/eventStream.ts';
import { plain } from '../http/serialize.ts';

/** A piece of a message that adds to those before it. */
interface Piece {
  readonly id?: string | undefined;
  concat?(other: unknown): Piece;
}

/** The mode `messages`, of before `messages-tuple`: a message as far as it has come, and each message once it is complete. */
export class PartialMessages {
  readonly #open = new Map<string, Piece>();
  readonly #complete = new Set<string>();

  add(chunk: Piece, metadata: unknown): readonly SentEvent[] {
    const { id } = chunk;
    if (id === undefined) return [];
    const before = this.#open.get(id);
    const whole = before?.concat?.(chunk) ?? chunk;
    this.#open.set(id, whole);
    const partial = { event: 'messages/partial', data: [whole] };
    return before === undefined
      ? [{ event: 'messages/metadata', data: { [id]: { metadata } } }, partial]
      : [partial];
  }

  /** The messages in a state that were not sent yet. */
  complete(values: unknown): readonly SentEvent[] {
    const { messages } = (plain(values) ?? {}) as { readonly messages?: unknown };
    const all = (Array.isArray(messages) ? messages : []) as readonly { readonly id?: unknown }[];
    const fresh = all.filter(({ id }) => typeof id === 'string' && !this.#complete.has(id));
    for (const { id } of fresh) {
      this.#complete.add(id as string);
      this.#open.delete(id as string);
    }
    return fresh.length === 0 ? [] : [{ event: 'messages/complete', data: fresh }];
  }
}

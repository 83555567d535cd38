import type { AnyMessage, AnyResponse, Stream } from '@agentclientprotocol/sdk';

/** Requests of an agent that wait for their answer at the same time. */
const MOST_WAITING = 64;

const UPDATE = 'session/update';

/**
 * The messages of an agent that are part of the conversation. An answer nobody waits for (an unknown id, a second one)
 * and a notification nobody knows are left out; more requests than anybody could mean end the stream.
 *
 * @param onUpdate - Told of every `session/update` in its order; the stream has none of them.
 */
export function guardedStream({ readable, writable }: Stream, onUpdate: (params: unknown) => void): Stream {
  const asked = new Set<unknown>();
  let waiting = 0;
  const writer = writable.getWriter();
  const heard = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => {
      if (isResponse(message)) {
        if (asked.delete(message.id)) controller.enqueue(message);
        return;
      }
      if (!('method' in message)) return;
      if (!('id' in message)) {
        if (message.method === UPDATE) onUpdate(message.params);
        return;
      }
      waiting += 1;
      if (waiting > MOST_WAITING) throw new RangeError(`sent ${waiting} requests at once`);
      controller.enqueue(message);
    },
  });
  const said = new WritableStream<AnyMessage>({
    write: (message) => {
      if (isResponse(message)) waiting -= 1;
      else if ('id' in message) asked.add(message.id);
      return writer.write(message);
    },
  });
  return { readable: readable.pipeThrough(heard), writable: said };
}

const isResponse = (message: AnyMessage): message is AnyResponse => !('method' in message) && 'id' in message;

/** Lets at most so many bytes through between two calls of `renew`. */
export function byteLimit(most: number): {
  readonly stream: TransformStream<Uint8Array, Uint8Array>;
  readonly renew: () => void;
} {
  let bytes = 0;
  const stream = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > most) throw new RangeError(`printed more than ${most} bytes`);
      controller.enqueue(chunk);
    },
  });
  return {
    stream,
    renew: () => {
      bytes = 0;
    },
  };
}

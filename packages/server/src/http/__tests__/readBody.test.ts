import { describe, expect, type TestContext, test, vi } from 'vitest';
import { readBody } from '../readBody.ts';

const MOST_BYTES = 1000;

/** A clock that is wound by hand. */
function windClock({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

const requestWith = (body: ReadableStream<Uint8Array>): Request =>
  new Request('https://api.example.org/threads', { method: 'POST', body, duplex: 'half' } as RequestInit);

describe('a body that is slow in coming', () => {
  test('is refused after half a minute, byte by byte, and is not read on', async (context) => {
    windClock(context);
    let sent = 0;
    let isLeft = false;
    const drip = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          if (isLeft) return;
          sent += 1;
          controller.enqueue(new Uint8Array([0x20]));
        },
        cancel() {
          isLeft = true;
        },
      },
      { highWaterMark: 0 },
    );
    const refused = expect(readBody(requestWith(drip), MOST_BYTES)).rejects.toMatchObject({
      status: 408,
      code: 'BODY_TOO_SLOW',
    });
    await vi.advanceTimersByTimeAsync(90_000);
    await refused;
    expect(isLeft).toBe(true);
    expect(sent).toBeLessThanOrEqual(30);
  });

  test('is refused when nothing comes at all', async (context) => {
    windClock(context);
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const refused = expect(readBody(requestWith(silent), MOST_BYTES)).rejects.toMatchObject({ status: 408 });
    await vi.advanceTimersByTimeAsync(30_000);
    await refused;
  });

  test('is read when it is complete in time', async (context) => {
    windClock(context);
    const parts = ['{"a"', ':1', '}'];
    const slow = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 7000));
          const part = parts.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(part));
        },
      },
      { highWaterMark: 0 },
    );
    const read = expect(readBody(requestWith(slow), MOST_BYTES)).resolves.toEqual({ a: 1 });
    await vi.advanceTimersByTimeAsync(29_000);
    await read;
  });
});

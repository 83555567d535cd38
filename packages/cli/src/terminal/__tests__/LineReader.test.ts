import { describe, expect, it } from 'vitest';
import { LineReader } from '../LineReader.ts';

async function* typed(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* chunks;
}

async function* nothingYet(): AsyncGenerator<string> {
  await new Promise(() => {});
  yield '';
}

const { signal } = new AbortController();

describe('a line reader', () => {
  it('joins what comes in pieces and parts what comes at once', async () => {
    const reader = new LineReader({ stdin: typed('re', Buffer.from('try\n mind x \nla'), 'st'), signal });
    expect([await reader.next(), await reader.next(), await reader.next()]).toEqual([
      'retry',
      'mind x',
      null,
    ]);
  });

  it('joins a character that comes in two pieces', async () => {
    const bytes = Buffer.from('größer\n');
    const reader = new LineReader({ stdin: typed(bytes.subarray(0, 3), bytes.subarray(3)), signal });
    expect(await reader.next()).toBe('größer');
  });

  it('ends at a signal while nobody types', async () => {
    const controller = new AbortController();
    const reader = new LineReader({ stdin: nothingYet(), signal: controller.signal });
    const line = reader.next();
    controller.abort();
    expect(await line).toBeNull();
    reader.close();
  });
});

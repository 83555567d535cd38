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

  it('ends at a signal while nobody types', async () => {
    const controller = new AbortController();
    const reader = new LineReader({ stdin: nothingYet(), signal: controller.signal });
    const line = reader.next();
    controller.abort();
    expect(await line).toBeNull();
    reader.close();
  });
});

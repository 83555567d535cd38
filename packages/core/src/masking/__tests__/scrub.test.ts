import { randomBytes } from 'node:crypto';
import { AIMessage } from '@langchain/core/messages';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../test/support/howMany.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { SecretRegistry } from '../SecretRegistry.ts';
import { scrub } from '../scrub.ts';

const registry = new SecretRegistry();
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
const MARK = '[REDACTED:github]';
const BINARIES = howMany('DEVS_SCRUBBED_BINARIES', 15);

/** Up to 64 KiB, as they are written in texts. */
const binaries = (): readonly string[] => {
  const bytes = randomBytes(Math.ceil(151 + 64_000 * Math.random() ** 3));
  const base64 = bytes.toString('base64');
  return [base64, bytes.toString('base64url'), bytes.toString('hex'), `data:image/png;base64,${base64}`];
};

describe('scrub', () => {
  test('alters no bytes that are written as text, and takes out what stands beside them', () => {
    for (let made = 0; made < BINARIES; made += 1) {
      for (const bytes of binaries()) {
        for (const text of [bytes, `{"image":"${bytes}"}`, `before ${bytes}\nafter`]) {
          expect(scrub(text, registry)).toEqual({ value: text, count: 0 });
        }
        const beside = scrub(`${TOKEN} "${bytes}" ${TOKEN}`, registry).value;
        expect(beside).toBe(`${MARK} "${bytes}" ${MARK}`);
      }
    }
  });

  test('alters no short data: URL and no block of an image, a file or a sound', () => {
    const kept = [
      `data:text/plain,${TOKEN}`,
      { type: 'image_url', image_url: { url: `https://x/?sig=${TOKEN}` } },
      { type: 'image', source_type: 'base64', data: TOKEN, mime_type: 'image/png' },
      { type: 'input_audio', input_audio: { data: TOKEN } },
      { type: 'file', file: { file_data: TOKEN } },
      new Uint8Array([1, 2, 3]),
      Buffer.from(TOKEN),
    ];
    expect(scrub(kept, registry)).toEqual({ value: kept, count: 0 });
    expect(scrub(kept, registry).value).toBe(kept);
    expect(scrub({ type: 'file', path: TOKEN }, registry).value).toEqual({ type: 'file', path: MARK });
  });

  test('knows a vendor, a key, an address with a password, and no more', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ/9'.repeat(8)}\n-----END PRIVATE KEY-----`;
    const { value, count } = scrub({ [TOKEN]: [key, 'postgres://app:s3cr/t@db', TOKEN] }, registry);
    expect(value).toEqual({
      [MARK]: ['[REDACTED:private_key]', 'postgres://[CREDENTIALS_REDACTED]@db', MARK],
    });
    expect(count).toBe(4);
    const others = [
      'password=hunter22hunter',
      `id: ${'0f1e2d3c'.repeat(4)}-us12`,
      Buffer.from(`{"auth":"${TOKEN}"}`).toString('base64'),
      'AKID and then q7Rk2mWx9LtB4vZs8NdYq7Rk2mWx9LtB',
    ];
    expect(scrub(others, registry)).toEqual({ value: others, count: 0 });
  });

  test('takes out a registered value of any length, but not a part of bytes', () => {
    const known = new SecretRegistry();
    const long = 'k3Y'.repeat(100);
    known.register(long);
    known.register('abcdefgh');
    expect(scrub(`key: ${long}.`, known)).toEqual({ value: 'key: [REDACTED:registered].', count: 1 });
    expect(scrub('an abcdefgh', known).value).toBe('an [REDACTED:registered]');
    const bytes = `${'A'.repeat(150)}abcdefgh${'B'.repeat(150)}`;
    expect(scrub(bytes, known)).toEqual({ value: bytes, count: 0 });
  });

  test('with the broad rules, also what a name gives away', () => {
    const broad = new SecretRegistry();
    broad.maskBroadly();
    const value = {
      password: 'Sommer2024garten',
      note: 'api_key=Sommer2024garten',
      sessionId: 'abc-123-def',
    };
    expect(scrub(value, broad)).toEqual({
      value: { password: '[REDACTED]', note: '[API_KEY=REDACTED]', sessionId: 'abc-123-def' },
      count: 2,
    });
  });

  test('goes through maps and sets, and leaves instances and accessors alone', () => {
    let calls = 0;
    const odd = {
      get token() {
        calls += 1;
        throw new Error('Not to be called.');
      },
    };
    const message = new AIMessage(TOKEN);
    const given = { map: new Map([[TOKEN, new Set([TOKEN])]]), odd, message, at: new Date(0) };
    const { value, count } = scrub(given, registry);
    expect(value.map).toEqual(new Map([[MARK, new Set([MARK])]]));
    expect([count, calls, value.odd, value.message, value.at]).toEqual([2, 0, odd, message, given.at]);
    expect(given.map.has(TOKEN)).toBe(true);
  });

  test('of 5,000 levels and 8 MB without a blank comes back, of a cycle is refused', () => {
    let deep: unknown = TOKEN;
    for (let level = 0; level < 5_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    expect(scrub(deep, registry).count).toBe(1);
    const long = 'nospaceshere.'.repeat(650_000);
    expect(scrub(long, registry).count).toBe(0);
    const cycle: unknown[] = [];
    cycle.push({ cycle });
    const refusal = (() => {
      try {
        scrub(cycle, registry);
      } catch (error) {
        return error;
      }
      return null;
    })();
    expect(isDevsError(refusal, 'VALUE_TOO_LARGE')).toBe(true);
  });
});

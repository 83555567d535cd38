import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskCutText, maskSensitiveData } from '../maskSensitiveData.ts';
import { MASK_REACH } from '../safeCut.ts';
import { createStreamMasker, type StreamMasker } from '../streamMasker.ts';

const KEY_LINE = 'Zq7'.repeat(20);
const SECRETS = {
  token: `ghp_${'a1B2'.repeat(9)}`,
  password: 'hunter2hunter2',
  key: `-----BEGIN RSA PRIVATE KEY-----\n${KEY_LINE}\n${KEY_LINE}\n-----END RSA PRIVATE KEY-----`,
  url: 'postgres://app:s3cr3tpw@db:5432/app',
} as const;
const LEAKS = ['a1B2', 'hunter2', 'Zq7', 's3cr3tpw'];

const LINES = [
  'compiling 12 files …',
  `remote: authenticated with ${SECRETS.token}`,
  `{"user":"bob","password":"${SECRETS.password}","n":1}`,
  SECRETS.key,
  `connecting to ${SECRETS.url} failed`,
  'done in 1.2 s',
];
const TEXT = `${LINES.join('\n')}\n`.repeat(3);

const expectNoLeak = (text: string): void => {
  for (const leak of LEAKS) expect(text).not.toContain(leak);
};

function masked(masker: StreamMasker, pieces: readonly string[]): string {
  return pieces.map((piece) => masker.push(piece)).join('') + masker.end();
}

describe('createStreamMasker', () => {
  test('leaks nothing, wherever a text is cut in two', () => {
    const whole = maskSensitiveData(TEXT);
    for (let at = 0; at <= TEXT.length; at += 1) {
      const out = masked(createStreamMasker({ reach: 300 }), [TEXT.slice(0, at), TEXT.slice(at)]);
      expectNoLeak(out);
      expect(out).toBe(whole);
    }
  });

  test('shows most of a long text before its end', () => {
    const masker = createStreamMasker({ reach: 300 });
    const shown = [...TEXT.repeat(4)].map((char) => masker.push(char)).join('');
    expectNoLeak(shown);
    expect(shown.length).toBeGreaterThan(TEXT.length);
  });

  test('leaks nothing in pieces of any sizes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 60 }), (sizes) => {
        const long = TEXT.repeat(2);
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < long.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          pieces.push(long.slice(at, at + size));
          at += size;
        }
        const out = masked(createStreamMasker({ reach: 300 }), pieces);
        expectNoLeak(out);
        expect(out.replace(/\[[A-Z_]*=?[A-Z_]*REDACTED[^\]]*\]/g, '')).toContain('compiling 12 files …');
      }),
      { numRuns: 60 },
    );
  });

  test('holds back a key of the usual length with the default reach', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${`${KEY_LINE}\n`.repeat(50)}-----END PRIVATE KEY-----\n`;
    const text = `${'line of output\n'.repeat(3_000)}${key}`.repeat(2);
    const masker = createStreamMasker();
    const pieces = text.match(/[\s\S]{1,4096}/g) ?? [];
    const out = masked(masker, pieces);
    expectNoLeak(out);
    expect(out).toBe(maskSensitiveData(text));
  });

  test('never cuts a character in two', () => {
    const text = '🙂'.repeat(3_000);
    const masker = createStreamMasker({ reach: 100 });
    const expectWhole = (shown: string): void => expect(Buffer.from(shown).toString()).toBe(shown);
    for (const piece of text.match(/.{1,77}/gu) ?? []) expectWhole(masker.push(piece));
    expectWhole(masker.end());
  });

  test('ends the output when one match goes on and on', () => {
    const masker = createStreamMasker({ reach: 16 });
    let out = masker.push('password="');
    for (let piece = 0; piece < 2_000; piece += 1) out += masker.push('abcdefgh1');
    out += masker.push('" and the rest') + masker.end();
    expect(out).toMatch(/^(?:password=")?\[REDACTED:overlong\]$/);
  });

  test('refuses a reach that is no length', () => {
    for (const reach of [0, -1, 1.5, Number.NaN]) {
      expect(() => createStreamMasker({ reach })).toThrow(RangeError);
    }
  });
});

describe('maskCutText', () => {
  const long = `${'line of output\n'.repeat(2_000)}${TEXT}`.repeat(4);

  test('leaks nothing, wherever the front was cut off', () => {
    for (let from = 0; from < 60_000; from += 487) expectNoLeak(maskCutText(long.slice(from)));
    const inKey = long.indexOf('Zq7');
    for (let from = inKey; from < inKey + 130; from += 1) expectNoLeak(maskCutText(long.slice(from)));
  });

  test('leaves out little more than one reach', () => {
    const text = 'line of output\n'.repeat(5_000);
    expect(maskCutText(text).length).toBeGreaterThan(text.length - MASK_REACH - 2_048);
    expect(maskCutText('short')).toBe('');
  });
});

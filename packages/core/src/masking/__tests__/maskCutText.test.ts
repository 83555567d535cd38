import { describe, expect, test } from 'vitest';
import { maskCutText } from '../maskSensitiveData.ts';
import { MASK_REACH } from '../safeCut.ts';

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

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskSensitiveData } from '../maskSensitiveData.ts';

/** Text, and the part that must not survive. */
const SECRETS: readonly (readonly [string, string])[] = [
  ['{"password":"hunter 2","a":1}', 'hunter'],
  [JSON.stringify({ body: JSON.stringify({ apiKey: 'zzz-value' }) }), 'zzz-value'],
  ['export GITHUB_TOKEN=abcdef', 'abcdef'],
  ['DB_PASSWORD="p a s s"', 'p a s s'],
  ['SECRET_KEY_BASE=abcdef', 'abcdef'],
  ['client_secret: abcdef', 'abcdef'],
  ['  token: "abcdef"', 'abcdef'],
  ["{'session_token': 'abcdef'}", 'abcdef'],
  ['deploy --token abcdef', 'abcdef'],
  ['deploy --api-key=abcdef', 'abcdef'],
  ['curl -u bob:abcdef https://host', 'abcdef'],
  ['X-Api-Key: abcdef', 'abcdef'],
  ['Cookie: sid=abcdef; theme=dark', 'abcdef'],
  ['Authorization: Basic Zm9vOmJhcg==', 'Zm9vOmJhcg'],
  ['GET /?access_token=abcdef&page=2', 'abcdef'],
  ['a%3Db&password%3Dabcdef', 'abcdef'],
  ['const password = "abcdef";', 'abcdef'],
  ['//registry.npmjs.org/:_authToken=abcdef', 'abcdef'],
  ['machine host login bob password abcdef', 'abcdef'],
  ['https://abcdefghijklmnopqrst@github.com/x', 'abcdefghijklmnopqrst'],
  ['Invalid api key: 12ab34cd', '12ab34cd'],
];

const CLEAN: readonly string[] = [
  'token: the session token is refreshed',
  'Password: must be at least 12 characters',
  'max_tokens=4096, tokens: 100, "token_count": 5',
  'const token = await getToken();',
  'author: Bob',
  'The secret: nobody knows.',
  'if (token === null) return;',
  'function login(password: string) {',
  'let apiKey: string;',
  'Bearer tokens are used',
  'const token = process.env.TOKEN;',
  'https://example.com:8080/@scope/x',
  'type Secret = { key: string }',
];

/** A quadratic pattern would not come back; a longer text is masked in slices of less. */
const ADVERSARIAL = [
  'a',
  '-',
  '\\',
  '"',
  '.',
  '\n',
  'a_',
  'a://',
  'a://b:',
  'eyJ',
  '-eyJ',
  'eyJaaaaaaaaaa.',
  'sk-',
  'password ',
  'password=',
  'password: ',
  'token="',
  'token="\\',
  'x-a',
  'cookie: ',
  'Bearer ',
  'host=a;password=b;',
  '-----BEGIN PRIVATE KEY-----',
  'PuTTY-User-Key-File-2: x\n',
  'machine a ',
  'MMMMMMMMMMMMMMMMMMMMMMMMM.',
] as const;

describe('maskSensitiveData', () => {
  test.each(SECRETS)('masks %s', (text, secret) => {
    const masked = maskSensitiveData(text);
    expect(masked).not.toContain(secret);
    expect(masked).toContain('REDACTED');
  });

  test.each(CLEAN)('leaves %j unchanged', (text) => {
    expect(maskSensitiveData(text)).toBe(text);
  });

  test('JSON stays JSON', () => {
    const text = JSON.stringify({ password: 'a b', nested: JSON.stringify({ token: 'x y' }), n: 1 });
    const masked = JSON.parse(maskSensitiveData(text)) as { password: string; nested: string };
    expect(masked.password).toBe('[REDACTED]');
    expect(JSON.parse(masked.nested)).toEqual({ token: '[REDACTED]' });
  });

  test('is idempotent on any mixture of secrets and prose', () => {
    const piece = fc.oneof(fc.constantFrom(...SECRETS.map(([text]) => text), ...CLEAN), fc.string());
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom('', ' ', '\n', ',', ';'), (pieces, glue) => {
        const once = maskSensitiveData(pieces.join(glue));
        expect(maskSensitiveData(once)).toBe(once);
      }),
      { numRuns: 200 },
    );
  });

  test('comes back from 200 KB of anything', () => {
    for (const unit of ADVERSARIAL) {
      const text = unit.repeat(200_000 / unit.length);
      expect(typeof maskSensitiveData(text)).toBe('string');
    }
  });
});

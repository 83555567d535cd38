import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskPrecise, maskPreciseDeep } from '../maskSensitiveData.ts';
import { SecretRegistry } from '../SecretRegistry.ts';

const A = (count: number, char = 'a'): string => char.repeat(count);
const KEY = `-----BEGIN RSA PRIVATE KEY-----\n${A(64, 'M')}\n${A(64, 'k')}==\n-----END RSA PRIVATE KEY-----`;

const SECRETS: Readonly<Record<string, string>> = {
  aws: 'AKIAIOSFODNN7EXAMPLE',
  awsSecret: `aws_secret_access_key = ${A(40, 'w')}`,
  github: `ghp_${A(36)}`,
  githubFineGrained: `github_pat_${A(30)}`,
  gitlab: `glpat-${A(20)}`,
  slack: `xoxb-${A(12, '1')}-${A(12, '2')}`,
  slackWebhook: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX',
  anthropic: `sk-ant-api03-${A(40)}`,
  openai: `sk-proj-${A(40)}`,
  openaiLegacy: `sk-${A(48)}`,
  stripe: `sk_live_${A(24)}`,
  google: `AIza${A(35)}`,
  npm: `npm_${A(36)}`,
  sendgrid: `SG.${A(22)}.${A(43)}`,
  jwt: `eyJ${A(20)}.eyJ${A(30)}.${A(40)}`,
  telegram: `123456789:AA${A(33)}`,
  pem: KEY,
  pemInJson: JSON.stringify(KEY),
  openssh: KEY.replaceAll('RSA', 'OPENSSH'),
  pgp: KEY.replaceAll('RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK'),
  url: 'postgres://app:s3cr3t@db.internal:5432/app',
  urlWithAt: 'redis://:p@ss@cache:6379',
  ado: 'Server=db;User Id=app;Password=s3cr3t;Database=x',
  libpq: 'host=db user=app password=s3cr3t dbname=x',
};

const CLEAN: readonly string[] = [
  'password=<min 12 chars>',
  'password=hash(input)',
  'const password=hash(input);',
  'The password is stored as a hash; secret=none.',
  'Authorization: Bearer <token>',
  'Set OPENAI_API_KEY=sk-… in your shell',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder is the point
  'postgres://${DB_USER}:${DB_PASSWORD}@localhost/db',
  'postgres://user:<password>@localhost/db',
  'task-abcdefghijklmnopqrstuvwxyz0123456789abcd',
  'git@github.com:org/repo.git and ssh://git@host/repo',
  'http://localhost:3000/@scope/package',
  '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----',
  'AKIA is the prefix of an access key id',
  'let x = 1;password=readPassword()',
];

describe('maskPrecise', () => {
  test.each(Object.entries(SECRETS))('masks %s', (_family, secret) => {
    const { value, count } = maskPrecise(`before ${secret} after`);
    expect(count).toBeGreaterThan(0);
    expect(value).toContain('REDACTED');
    expect(value).toMatch(/^before .* after$/s);
  });

  test.each(CLEAN)('leaves %j unchanged', (text) => {
    expect(maskPrecise(text)).toEqual({ value: text, count: 0 });
  });

  test('finds a token right after a URL escape and after a JSON escape', () => {
    expect(maskPrecise(`token%3Dghp_${A(36)}`).count).toBe(1);
    expect(maskPrecise(`line\\nghp_${A(36)}`).count).toBe(1);
  });

  test('masks a key whose last lines are missing', () => {
    expect(maskPrecise(`key:\n${KEY.slice(0, -40)}`).value).toBe('key:\n[REDACTED:private_key]');
  });

  test('keeps the URL around the credentials', () => {
    expect(maskPrecise('see https://u:p@host/x?y=1').value).toBe(
      'see https://[CREDENTIALS_REDACTED]@host/x?y=1',
    );
  });

  test('is idempotent on any mixture of secrets and prose', () => {
    const piece = fc.oneof(fc.constantFrom(...Object.values(SECRETS), ...CLEAN), fc.string());
    fc.assert(
      fc.property(fc.array(piece), fc.constantFrom('', ' ', '\n', '"', ','), (pieces, glue) => {
        const once = maskPrecise(pieces.join(glue)).value;
        expect(maskPrecise(once)).toEqual({ value: once, count: 0 });
      }),
      { numRuns: 200 },
    );
  });
});

describe('maskPreciseDeep', () => {
  test('returns the same object when nothing is secret', () => {
    const json = { a: [1, 'x', { b: null }], c: { d: 'password=hash(input)' } };
    expect(maskPreciseDeep(json).value).toBe(json);
  });

  test('masks strings and keys at any depth and shares the untouched parts', () => {
    const json = { kept: { deep: ['x'] }, list: [{ token: `ghp_${A(36)}` }], [`npm_${A(36)}`]: 1 };
    const { value, count } = maskPreciseDeep(json);
    expect(count).toBe(2);
    expect(value).toEqual({
      kept: { deep: ['x'] },
      list: [{ token: '[REDACTED:github]' }],
      '[REDACTED:npm]': 1,
    });
    expect(value.kept).toBe(json.kept);
    expect(json.list[0]?.token).toBe(`ghp_${A(36)}`);
  });

  test('an own __proto__ key stays an own key', () => {
    const json = JSON.parse(`{"__proto__":{"t":"ghp_${A(36)}"}}`) as object;
    const { value } = maskPreciseDeep(json);
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('leaves class instances alone', () => {
    const json = { at: new Date(0), text: `ghp_${A(36)}` };
    expect(maskPreciseDeep(json).value.at).toBe(json.at);
  });
});

describe('SecretRegistry', () => {
  const secret = 'p"ä/ss+w?rd&1';

  test('finds a registered value raw, escaped and encoded', () => {
    const registry = new SecretRegistry();
    registry.register(secret);
    const bytes = Buffer.from(secret);
    const forms = [
      secret,
      JSON.stringify({ secret }),
      JSON.stringify(JSON.stringify(secret)),
      encodeURIComponent(secret),
    ];
    forms.push(bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'));
    for (const form of forms) {
      const { value, count } = maskPrecise(`x ${form} y`, registry);
      expect(count, form).toBe(1);
      expect(value).toContain('[REDACTED:registered]');
    }
  });

  test('finds a registered value inside a longer base64 text at every position', () => {
    const registry = new SecretRegistry();
    registry.register('correct-horse-battery');
    for (const user of ['', 'u', 'us', 'use', 'user']) {
      const basic = Buffer.from(`${user}:correct-horse-battery:tail`).toString('base64');
      expect(maskPrecise(`Basic ${basic}`, registry).count, user).toBe(1);
    }
  });

  test('any registered value is masked wherever it appears', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 6, maxLength: 40 }),
        fc.string(),
        fc.string(),
        (value, before, after) => {
          fc.pre(!'[REDACTED:registered]'.includes(value));
          const registry = new SecretRegistry();
          registry.register(value);
          expect(maskPrecise(before + value + after, registry).count).toBeGreaterThan(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('takes long values of variables named like secrets from the environment', () => {
    const registry = new SecretRegistry();
    registry.registerFromEnv({
      MY_API_KEY: 'value-one',
      PATH: 'value-two',
      X_TOKEN: 'short',
      Y_SECRET: undefined,
    });
    expect(maskPrecise('value-one value-two short', registry).value).toBe(
      '[REDACTED:registered] value-two short',
    );
  });

  test('refuses a value that would be found in ordinary words', () => {
    expect(() => new SecretRegistry().register('abc')).toThrow(RangeError);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskPrecise, maskSensitiveData } from '../maskSensitiveData.ts';
import { registerSecrets, SecretRegistry } from '../SecretRegistry.ts';

const registryOf = (...values: string[]): SecretRegistry => {
  const registry = new SecretRegistry();
  for (const value of values) registry.register(value);
  return registry;
};

const fromEnv = (env: Record<string, string>): SecretRegistry => {
  const registry = new SecretRegistry();
  registry.registerFromEnv(env);
  return registry;
};

/** Forms in which programs write a value. */
const FORMS: Readonly<Record<string, (value: string) => string>> = {
  raw: (value) => value,
  base64: (value) => Buffer.from(value).toString('base64'),
  base64url: (value) => Buffer.from(value).toString('base64url'),
  'base64 after one byte': (value) => Buffer.from(`:${value}`).toString('base64'),
  'base64 after two bytes': (value) => Buffer.from(`u:${value}`).toString('base64'),
  'base64 before more': (value) => Buffer.from(`${value}:and more`).toString('base64'),
  'a URL component': encodeURIComponent,
  'a URL component in lower case': (value) =>
    encodeURIComponent(value).replace(/%../g, (byte) => byte.toLowerCase()),
  'a form': (value) => new URLSearchParams({ v: value }).toString(),
  JSON: (value) => JSON.stringify({ value }),
  'JSON in JSON': (value) => JSON.stringify({ body: JSON.stringify({ value }) }),
  'ASCII JSON': (value) =>
    JSON.stringify(value).replace(
      /[^ -~]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  hex: (value) => Buffer.from(value).toString('hex'),
};

describe('a registered value', () => {
  test.each(Object.entries(FORMS))('is found as %s, whatever it is', (_form, write) => {
    const value = fc
      .string({ minLength: 8, maxLength: 40, unit: 'grapheme' })
      .filter((text) => text.trim() === text);
    fc.assert(
      fc.property(value, (secret) => {
        fc.pre(!/REDACTED|registered/.test(secret) && Buffer.byteLength(secret) < 200);
        const masked = maskPrecise(`before ${write(secret)} after`, registryOf(secret));
        expect(masked.count).toBeGreaterThan(0);
        expect(masked.value).not.toContain(secret);
      }),
      { numRuns: 150 },
    );
  });

  test('is found with half a surrogate pair in it', () => {
    const secret = 'abc\ud83ddefgh';
    expect(maskPrecise(`x ${secret} y`, registryOf(secret)).count).toBe(1);
  });

  test('is refused when masks themselves write it', () => {
    for (const value of ['REDACTED', 'registered', 'private_key', '[REDACTED:github]']) {
      expect(() => registryOf(value)).toThrow(RangeError);
    }
  });

  test('is masked in a text that was clean before it was registered', () => {
    const registry = new SecretRegistry();
    const text = `${'a long line of text. '.repeat(20)}hunter2hunter2`;
    expect(maskPrecise(text, registry).count).toBe(0);
    registry.register('hunter2hunter2');
    expect(maskPrecise(text, registry).count).toBe(1);
  });
});

describe('variables of the environment', () => {
  test.each([
    ['MY_API_KEY', 'a1b2c3d4e5'],
    ['GITHUB_TOKEN', 'not-a-known-shape-1'],
    ['DB_PASSWORD_2', 'correct horse battery'],
    ['SECRET_KEY_BASE', 'f00dfeedbeef1234'],
    ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG'],
    ['npm_config__auth', 'dXNlcjpwYXNzd29yZA=='],
    ['MYSQL_PWD', 'hunter2hunter2'],
    ['SENTRY_DSN', 'https://key@o1.ingest.sentry.io/1'],
  ])('%s is a secret', (name, value) => {
    expect(maskPrecise(`x ${value} y`, fromEnv({ [name]: value })).count).toBe(1);
  });

  test.each([
    ['PWD', '/home/ada/projects/app'],
    ['OLDPWD', '/home/ada/projects'],
    ['SSH_KEY', '~/.ssh/id_ed25519'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/etc/keys/sa.json'],
    ['TOKEN_URL', 'https://auth.example.com/oauth/token'],
    ['SECRET_NAME', 'production-database'],
    ['MAX_TOKENS', '100000000'],
    ['API_KEY', 'changeme'],
    ['API_KEY', '<your key here>'],
    ['X_TOKEN', 'short'],
    ['PATH', '/usr/local/bin:/usr/bin'],
    ['DEPLOY_TOKEN', 'aaaaaaaaaa'],
    ['AUTH_TOKEN', 'registered'],
  ])('%s=%s is none', (name, value) => {
    expect(fromEnv({ [name]: value }).rules()).toEqual([]);
  });
});

describe('registerSecrets', () => {
  test('takes the environment, values, and what is allowed', () => {
    const registry = new SecretRegistry();
    const env = { A_TOKEN: 'from-the-environment', B_TOKEN: 'a-public-value' };
    registerSecrets({ values: ['from-the-config'], allow: ['a-public-value'] }, registry, env);
    const text = 'from-the-environment from-the-config a-public-value';
    expect(maskPrecise(text, registry).value).toBe(
      '[REDACTED:registered] [REDACTED:registered] a-public-value',
    );
  });

  test('leaves the environment alone when told to', () => {
    const registry = new SecretRegistry();
    registerSecrets({ fromEnv: false }, registry, { A_TOKEN: 'from-the-environment' });
    expect(registry.rules()).toEqual([]);
  });

  test('refuses a value that would be found in ordinary words', () => {
    expect(() => registerSecrets({ values: ['abc'] }, new SecretRegistry(), {})).toThrow(RangeError);
  });
});

describe('an allowed value', () => {
  const example = 'AKIAIOSFODNN7EXAMPLE';

  test('is left by every rule, by itself and after a name', () => {
    const registry = new SecretRegistry();
    registry.allow(example);
    registry.allow('test-token-1');
    for (const text of [
      `id ${example}`,
      'Authorization: Bearer test-token-1',
      '{"password":"test-token-1"}',
    ]) {
      expect(maskSensitiveData(text, registry)).toBe(text);
    }
  });

  test('allows nothing that only contains it', () => {
    const registry = new SecretRegistry();
    registry.allow('test-token-1');
    expect(maskSensitiveData('password=test-token-1x', registry)).toBe('[SECRET=REDACTED]');
  });
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are the point
import { describe, expect, test } from 'vitest';
import { maskPrecise, maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../../src/masking/SecretRegistry.ts';

const registry = new SecretRegistry();
const precise = (text: string): string => maskPrecise(text, registry).value;
const broad = (text: string): string => maskSensitiveData(text, registry);

const made = (length: number): string => 'q7Rk2mWx9LtB4vZs8NdY'.repeat(4).slice(0, length);
const HEX = 'd41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204e9800998ecf8427e';

/** Text, and what must not be left of it by either mask. */
const BY_ITS_FORM: readonly (readonly [string, string, string])[] = [
  ['Telegram in its own address', `https://api.telegram.org/bot123456789:AA${made(33)}/getMe`, made(33)],
  ['a token after a colour', `\u001b[32mghp_${made(36)}\u001b[0m`, made(36)],
  ['a token after an escaped colour', `\\u001b[1;32mghp_${made(36)}\\u001b[0m`, made(36)],
  ['a token in a removed line', `-sk-ant-api03-${made(40)}`, made(40)],
  ['a password of JDBC', 'jdbc:postgresql://db/app?user=app&password=s3cr3t-pw', 's3cr3t-pw'],
  ['the rest of a rotated token', `xoxe.xoxp-1-Mi0yLTE=${made(30)}_/${made(20)}`, made(20)],
  ['an address with a raw @', 'https://user:p@ssw0rd@host/x', 'ssw0rd'],
  ['an address after a colour', '\u001b[34mpostgres://app:c0lour@db/app\u001b[0m', 'c0lour'],
  [
    'a key in a diff',
    `+-----BEGIN PRIVATE KEY-----\n+${made(64)}\n+${made(64)}\n+-----END PRIVATE KEY-----`,
    made(20),
  ],
  ['a secret beside its id', `id = AKIA0123456789ABCDEF\nsecret: ${made(40)}`, made(40)],
  ['a token in base64', Buffer.from(`{"auth":"ghp_${made(36)}"}`).toString('base64'), 'Z2hwX'],
  ['a token in hex', Buffer.from(`ghp_${made(36)}`).toString('hex'), '6768705f'],
];

/** By its name alone: the broad mask. */
const BY_ITS_NAME: readonly (readonly [string, string])[] = [
  ['password=Summer(2024)', 'Summer'],
  ['api_key=live(1234567890abcdef)', '1234567890'],
  ['password=[REDACTED]hunter2', 'hunter2'],
  ['token=[REDACTED:github]hunter2', 'hunter2'],
  ['"secret": "[REDACTED] hunter2"', 'hunter2'],
  ["password='it'\\''s-Pa55'", 'Pa55'],
  ['\u001b[90mpassword\u001b[0m=\u001b[32mhunter-2\u001b[0m', 'hunter'],
  ['- name: DB_PASSWORD\n  value: "M0nday*"', 'M0nday'],
];

const HARMLESS: readonly string[] = [
  'if (password === confirm) return;',
  'if (token == other) return;',
  'API_KEY=your-api-key-here',
  'GITHUB_TOKEN=$(gh auth token)',
  `cache-key: node-modules-${HEX}`,
  'github.com/a/b v1.2.3 h1:q7Rk2mWx9LtB4vZs8NdYq7Rk2mWx9LtB4vZs8NdY123=',
  'Bearer of bad news',
  'password = options.password;',
  'connect(host=host, password=password)',
  'UPDATE users SET password = $1 WHERE id = $2',
  'DB_PASSWORD=op://prod/db/password',
  'TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'Cookie: theme=dark; lang=de',
  '\u001b[1mPassword:\u001b[0m ',
  'sk-…, $TOKEN and postgres://USER:PASSWORD@host/db',
];

describe('both masks', () => {
  test.each(BY_ITS_FORM)('mask %s', (_about, text, secret) => {
    expect(precise(text)).not.toContain(secret);
    expect(broad(text)).not.toContain(secret);
  });

  test.each(HARMLESS)('leave %j as it is', (text) => {
    expect(precise(text)).toBe(text);
    expect(broad(text)).toBe(text);
  });
});

describe('the broad mask', () => {
  test.each(BY_ITS_NAME)('masks %s', (text, secret) => {
    const masked = broad(text);
    expect(masked).not.toContain(secret);
    expect(broad(masked)).toBe(masked);
  });
});

import { TOKEN_SHAPES } from '../../src/masking/tokenShapes.ts';

/** What rules look for: prefixes of tokens, names, headers, commands and marks of structure. */
const WORDS = [
  ...'token secret password passphrase passcode pass pwd psk pw credential bearer signature session_id'.split(
    ' ',
  ),
  ...'connection_string webhook_url api_key key auth salt sig code securestring client-key-data'.split(' '),
  ...'authorization cookie set-cookie x-api-key Bearer AccountKey secret_access_key'.split(' '),
  ...'docker mysql sshpass redis-cli identified with login -u --user machine'.split(' '),
  ...[
    'AKIA',
    ':AA',
    'Q~',
    '.atlasv1.',
    '-us1',
    '1/',
    '0.',
    '://',
    'a://',
    'a://b:',
    '&sig=',
    'host=',
    'db:5432:a:b:',
  ],
  ...[
    '-----BEGIN PRIVATE KEY-----',
    'PuTTY-User-Key-File-2: x\n',
    '-----BEGIN CERTIFICATE-----\n',
    'base64,',
    'sha256-',
  ],
  ...['a=', '"', "'", ':', '\\', 'http://a/?u=', 'https%3A%2F%2Fa%40', '%25', '&token=', 'a://b?token='],
  ...['AKIA0123456789ABCDEF', 'LS0tLS1CRUdJTi', '"kty":{"d":"', '$2b$', '@tcp(', '\u001b[1m', '-us1'],
];

export const LITERALS: readonly string[] = [
  ...new Set([...TOKEN_SHAPES.flatMap(({ heads }) => heads), ...WORDS]),
];

/** Ways to make a pattern begin often and fail late. `size` in characters. */
const SHAPES: readonly ((literal: string, size: number) => string)[] = [
  (literal, size) => repeat(literal, size),
  (literal, size) => repeat(`${literal} `, size),
  (literal, size) => repeat(`${literal}:`, size),
  (literal, size) => repeat(`${literal}, `, size),
  (literal, size) => repeat(`${literal}="`, size),
  (literal, size) => repeat(`${literal}: \\`, size),
  (literal, size) => repeat(`\n${literal}=a1`, size),
  (literal, size) => repeat(`${literal}('a`, size),
  (literal, size) => literal + repeat('a1B2-_.', size),
  (literal, size) => `${literal}="${repeat('a ', size)}`,
  (literal, size) => literal + repeat(' \t', size),
];

const repeat = (unit: string, size: number): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

export interface AdversarialText {
  readonly about: string;
  readonly of: (size: number) => string;
}

/** Every literal in every shape. */
export const ADVERSARIAL: readonly AdversarialText[] = LITERALS.flatMap((literal) =>
  SHAPES.map((shape, index) => ({
    about: `${JSON.stringify(literal)} in shape ${index + 1}`,
    of: (size: number) => shape(literal, size),
  })),
);

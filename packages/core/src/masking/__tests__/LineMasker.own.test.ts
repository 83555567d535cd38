import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineMasker } from '../LineMasker.ts';
import { maskSensitiveData } from '../maskSensitiveData.ts';
import { secretRegistry } from '../SecretRegistry.ts';

// Made up here, so that no scanner finds them in this file.
const made = (char: string, count: number): string => `${char}7Q`.repeat(count).slice(0, count);
const keyLines = Array.from({ length: 12 }, (_, n) => made(String.fromCharCode(97 + n), 64));
const pem = (label: string): string =>
  [`-----BEGIN ${label}PRIVATE KEY-----`, ...keyLines, `-----END ${label}PRIVATE KEY-----`].join('\n');
const registered = ['line one of a value', 'its second line', 'its third'].join('\n');
const awsSecret = made('w', 40).replace('7', '/');

/** What must not be seen, as it stands in a text. */
const SECRETS: readonly { readonly text: string; readonly canaries: readonly string[] }[] = [
  { text: `ghp_${made('b', 36)}`, canaries: [made('b', 36)] },
  { text: `password=${made('n', 14)}`, canaries: [made('n', 14)] },
  { text: `Authorization: Bearer ${made('t', 60)}`, canaries: [made('t', 60)] },
  { text: pem('RSA '), canaries: keyLines },
  { text: pem(''), canaries: keyLines },
  { text: `AWS ids\nAKIA${'A'.repeat(16)}\n${awsSecret}`, canaries: [awsSecret] },
  { text: registered, canaries: ['its second line', 'its third'] },
];
secretRegistry.register(registered);

const word = fc.constantFrom(
  'built',
  'src/a.ts',
  'ok',
  '12 passed',
  'BEGIN',
  'kind',
  '{',
  '};',
  'é',
  '\u001b[32mgreen\u001b[0m',
);
const lineOfWords = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
const secret = fc.nat({ max: SECRETS.length - 1 });
const program = fc.record({
  before: fc.array(lineOfWords, { maxLength: 6 }),
  secret,
  after: fc.array(lineOfWords, { maxLength: 6 }),
  isColoured: fc.boolean(),
  cuts: fc.array(fc.nat({ max: 1_200 }), { maxLength: 12 }),
  takes: fc.array(fc.boolean(), { minLength: 13, maxLength: 13 }),
});

/** Pushed in pieces; `takes` says after which of them the lines are asked for. */
function shown(text: string, cuts: readonly number[], takes: readonly boolean[]): string {
  const masker = new LineMasker();
  const places = [...new Set([...cuts.filter((at) => at < text.length), text.length])].sort((a, b) => a - b);
  let from = 0;
  let out = '';
  for (const [index, at] of places.entries()) {
    masker.push(text.slice(from, at));
    from = at;
    if (takes[index] !== false) out += masker.take();
  }
  return out + masker.end();
}

describe('lines that are masked while they come', () => {
  it('hold no secret, wherever the pieces end and whenever they are looked at', () => {
    fc.assert(
      fc.property(program, ({ before, secret: which, after, isColoured, cuts, takes }) => {
        const { text, canaries } = SECRETS[which] as (typeof SECRETS)[number];
        const coloured = isColoured ? text.replace(/(.{5})/g, '$1\u001b[1m') : text;
        const out = shown([...before, coloured, ...after].join('\n'), cuts, takes);
        for (const canary of canaries) expect(out).not.toContain(canary);
      }),
      { numRuns: 400 },
    );
  });

  it('are the text where there is none, without the codes of terminals', () => {
    fc.assert(
      fc.property(
        fc.array(lineOfWords),
        fc.array(fc.nat(200)),
        fc.array(fc.boolean()),
        (lines, cuts, takes) => {
          const text = lines.join('\n');
          // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of the words above
          expect(shown(text, cuts, takes)).toBe(text.replace(/\u001b\[\d+m/g, ''));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('come once they are whole, and not before', () => {
    const masker = new LineMasker();
    masker.push('first\nsec');
    expect(masker.take()).toBe('first\n');
    masker.push('ond');
    expect(masker.take()).toBe('');
    expect(masker.end()).toBe('second');
  });

  it('show each drawing of a bar of progress as a line', () => {
    const masker = new LineMasker();
    masker.push('10%\r20%\r30%\r');
    expect(masker.take()).toBe('10%\n20%\n');
    masker.push('\ndone\r\n');
    masker.push('x');
    expect(masker.take()).toBe('30%\ndone\n');
  });

  it('do not wait for the end of a key that has none', () => {
    const masker = new LineMasker();
    masker.push(`-----BEGIN of nothing\n${'words and words\n'.repeat(2_000)}`);
    const out = masker.take();
    expect(out).toContain('words and words');
    expect(out + masker.end()).toBe(`-----BEGIN of nothing\n${'words and words\n'.repeat(2_000)}`);
  });

  it('of a line without end come in parts, and the same', () => {
    const masker = new LineMasker();
    const text = 'word and '.repeat(10_000);
    let out = '';
    for (let at = 0; at < text.length; at += 7_000) {
      masker.push(text.slice(at, at + 7_000));
      out += masker.take();
    }
    expect(out.length).toBeGreaterThan(text.length / 2);
    expect(out + masker.end()).toBe(text);
  });

  it('never end within a character', () => {
    const masker = new LineMasker();
    for (const piece of '🙂'.repeat(30_000).match(/[\s\S]{1,777}/g) ?? []) {
      masker.push(piece);
      const shown = masker.take();
      expect(Buffer.from(shown).toString()).toBe(shown);
    }
    expect(masker.end()).toMatch(/^🙂*$/u);
  });

  it('end in a mark where one match goes on and on', () => {
    const masker = new LineMasker();
    masker.push('password="');
    let out = '';
    for (let piece = 0; piece < 60; piece += 1) {
      masker.push('abcdefgh1'.repeat(4_000));
      out += masker.take();
    }
    expect(out).toMatch(/\[REDACTED:overlong\]/);
    expect(out).not.toContain('abcdefgh1');
  });

  it('leave out what may be the rest of a secret after a gap', () => {
    const masker = new LineMasker();
    masker.push('before\n-----BEGIN PRIVATE KEY-----\n');
    expect(masker.skip()).toBe(maskSensitiveData('before\n-----BEGIN PRIVATE KEY-----\n'));
    masker.push(`${keyLines.join('\n')}\n`);
    expect(masker.take()).toBe('');
    masker.push('after\n'.repeat(4_000));
    const out = masker.take();
    expect(out).toContain('after');
    for (const canary of keyLines) expect(out).not.toContain(canary);
  });
});

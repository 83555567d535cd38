import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CLEAN_TEXTS } from '../../../test/masking/corpus/cleanTexts.ts';
import { FAMILIES } from '../../../test/masking/corpus/families.ts';
import { GATE_SHAPES, maskAtGate } from '../maskAtGate.ts';
import { maskSensitiveData } from '../maskSensitiveData.ts';
import { maskView } from '../maskView.ts';
import { SecretRegistry } from '../SecretRegistry.ts';

const registry = new SecretRegistry();
const at = <T>(value: T, gate = 'g', known = registry) => maskAtGate(value, { gate, registry: known });

/** A text that a shape matches: of each class its first character, so often. */
const sampleOf = (head: string, tail: string): string =>
  head +
  tail
    .replace(/^\(\?:([^|]+)\|.*\)(?=\(\?!)/, '$1')
    .replace(/\(\?![^)]*\)/g, '')
    .replaceAll(/\[([^\]]+)\]\{(\d+)\}/g, (_, chars: string, times: string) => {
      const letter = /^(?:a-f|0-9a-f|0-9A-F)/.test(chars) ? 'c0ffee17' : 'K7Q4Z9X2';
      return letter.repeat(Math.ceil(Number(times) / 8)).slice(0, Number(times));
    });

describe('what a gate hides', () => {
  const shapes = GATE_SHAPES.flatMap(([name, , heads, tail]) =>
    heads.split(' ').map((head) => [name, head, tail] as const),
  );

  test.each(shapes)(
    '%s %s is hidden with its length, and one character more or less is shown',
    (name, head, tail) => {
      const token = sampleOf(head, tail);
      const { view, hidden } = at({ run: `x ${token} y` });
      expect(hidden).toEqual([
        { in: '/run', at: 2, length: token.length, name, digest: expect.stringMatching(/^[0-9a-f]{12}$/) },
      ]);
      expect(view).toEqual({ run: `x [REDACTED:${name}:${token.length}:${hidden[0]?.digest}] y` });
      expect(at(`${token}9`).hidden).toEqual([]);
      expect(at(token.slice(0, -1)).hidden).toEqual([]);
    },
  );

  test('no shape has a lower bound alone, or a character that a shell or a path gives a meaning', () => {
    for (const [name, , heads, tail] of GATE_SHAPES) {
      const plain = tail
        .replaceAll(/\[[A-Za-z0-9_-]+\]\{\d+\}/g, '')
        .replaceAll(/\(\?!\[[A-Za-z0-9_-]+\]\)$/g, '');
      expect([name, plain]).toEqual([name, expect.stringMatching(/^(?:[A-Za-z0-9_-]*|\(\?:\|\))$/)]);
      expect(heads).toMatch(/^[A-Za-z0-9_-]{3,}(?: [A-Za-z0-9_-]{3,})*$/);
    }
  });

  test('of every family that other output masks, nothing but such tokens', () => {
    for (const { samples } of FAMILIES) {
      for (const { text } of samples) {
        const { hidden, behind } = at(text);
        expect(hidden).toHaveLength(behind.length);
        for (const part of behind) expect(part).toMatch(/^[A-Za-z0-9_-]{20,120}$/);
      }
    }
  });

  test('is a registered value in any of its forms, whatever is in it, and never one that was allowed', () => {
    const known = new SecretRegistry();
    known.register('horse $battery "staple"');
    known.allow(`ghp_${'a1B2'.repeat(9)}`);
    const [plain, base64] = [
      'horse $battery "staple"',
      Buffer.from('horse $battery "staple"').toString('base64'),
    ];
    const { hidden, behind, view } = at({ a: plain, b: [base64], c: `ghp_${'a1B2'.repeat(9)}` }, 'g', known);
    expect(behind).toEqual([plain, base64]);
    expect(hidden.map(({ in: path, name }) => [path, name])).toEqual([
      ['/a', 'registered'],
      ['/b/0', 'registered'],
    ]);
    expect(view).toMatchObject({ c: `ghp_${'a1B2'.repeat(9)}` });
  });

  test('is counted in the names of members too, and where two overlap as one', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const known = new SecretRegistry();
    known.register(`${token}--force`);
    expect(at({ [`${token}/~`]: 1 }).hidden).toMatchObject([{ in: '/[REDACTED:github:40]~1~0', at: 0 }]);
    expect(at(`run ${token}--force`, 'g', known).behind).toEqual([`${token}--force`]);
  });
});

describe('what a gate shows', () => {
  const PAYLOAD = 'rm$IFS-rf$IFS~/work';

  test.each([
    'TOKEN="; rm -rf ~/work; #" npm test',
    `Authorization: Bearer x;${PAYLOAD}`,
    'secret=transfer_90000_EUR_to_DE02120300000000202051',
    `api_key="; ${PAYLOAD}; #"`,
    `password: '${PAYLOAD}'`,
    `https://user:;${PAYLOAD};@example.com/`,
    `https://example.com/?token=;${PAYLOAD};x9K2m4`,
    `mysql -u root -p';${PAYLOAD}'`,
    `Server=db;User Id=sa;Password=;${PAYLOAD};`,
    `sk-proj-${'--no-verify'.repeat(3)}`,
    `curl -H "Cookie: session=;${PAYLOAD}"`,
    `-----BEGIN PRIVATE KEY-----\n${Buffer.from(PAYLOAD.repeat(4)).toString('base64')}\n-----END PRIVATE KEY-----`,
    Buffer.from(`password=${PAYLOAD} AKIA0123456789ABCDEF`).toString('base64'),
  ])('is all of %j', (text) => {
    expect(at({ run: text })).toEqual({ view: { run: text }, hidden: [], behind: [] });
  });

  test('is an ordinary artifact whole', () => {
    const { hidden, view } = at(CLEAN_TEXTS);
    expect(hidden).toEqual([]);
    expect(view).toEqual(CLEAN_TEXTS);
    const ordinary = {
      code: 'const password = hash(input);\nconst AKIA = "AKIA" + id; // ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
      url: 'https://user:pw@example.com/a?sig=abc&token=def#secret=1',
      base64: Buffer.from(createHash('sha512').update('lock').digest()).toString('base64'),
      lock: `"integrity": "sha512-${createHash('sha512').update('npm').digest('base64')}"`,
      hex: createHash('sha256').update('x').digest('hex'),
      env: 'API_KEY=$API_KEY npm_config_registry=https://registry.example.com',
    };
    expect(at(ordinary)).toEqual({ view: ordinary, hidden: [], behind: [] });
  });

  test('passes the masks of other output as it is, and only itself', () => {
    const text = 'password=hunter2-hunter2';
    const { view } = at({ run: text });
    expect(maskSensitiveData(text)).not.toBe(text);
    expect(maskView({ view, run: text })).toEqual({ view: { run: text }, run: maskSensitiveData(text) });
    expect(maskView({ ...view })).toEqual({ run: maskSensitiveData(text) });
  });
});

describe('a digest', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const digestsOf = (value: unknown, gate: string) => at(value, gate).hidden.map(({ digest }) => digest);

  test('is the same for equal places of one gate, and another one at every other gate', () => {
    const [first, second, other] = digestsOf([token, `${token} again`, `ghp_${'a1B3'.repeat(9)}`], 'g');
    expect(first).toBe(second);
    expect(other).not.toBe(first);
    expect(digestsOf(token, 'h')).not.toEqual([first]);
  });

  test('is no plain hash of what is hidden: nobody can try values', () => {
    const [digest] = digestsOf(token, 'g');
    for (const guess of [token, `g${token}`, `g\n${token}`])
      expect(createHash('sha256').update(guess).digest('hex').slice(0, 12)).not.toBe(digest);
  });

  test('does not keep a mark from being known as one', () => {
    const { view } = at({ run: token });
    expect(at(view.run).hidden).toEqual([]);
    expect(maskSensitiveData(`token=${view.run}`)).toBe(`token=${view.run}`);
  });
});

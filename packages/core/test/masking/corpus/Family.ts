// A family of secrets, written as templates: the values are made up when the corpus is built, so that no text in this
// repository looks like a secret to a scanner.

/** How a text gives its secret away: by the secret's own shape, by the place it stands in, or by a name before it. */
export type FamilyKind = 'shape' | 'place' | 'name';

export interface Sample {
  readonly text: string;
  /** What must not be left of it: the made-up characters, without the prefixes that every such secret has. */
  readonly secret: readonly string[];
}

export interface Family {
  readonly name: string;
  readonly kind: FamilyKind;
  readonly samples: readonly Sample[];
}

/** Name and templates; the secret stands between `«` and `»`, a whole template is the secret without them. */
export type FamilyTemplate = readonly [name: string, ...templates: string[]];

const ALPHABETS: Readonly<Record<string, string>> = {
  a: 'abcdefghijklmnopqrstuvwxyz',
  A: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  n: '0123456789',
  h: '0123456789abcdef',
  H: '0123456789ABCDEF',
  l: 'abcdefghijklmnopqrstuvwxyz0123456789',
  x: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  w: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  u: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-',
  b: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  t: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  y: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  // What people type: letters, digits and the marks that password rules ask for.
  p: 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!#%*+',
};

const UUID = '{h8}-{h4}-{h4}-{h4}-{h12}';

/** Texts without a hint in their wording: what surrounds a secret that gives itself away. */
const CARRIERS = [
  'Sent with {} to the server.',
  '["first","{}",3]',
  'GET /v1/items?q={}&page=2',
  '{}',
] as const;

/** A family of values that are known by their own shape, each carried by texts that say nothing about it. */
export function shapeFamily([name, ...templates]: FamilyTemplate): Family {
  const samples = templates.flatMap((template, index) =>
    CARRIERS.map((carrier, place): Sample => {
      const value = expand(template, `${name}/${index}/${place}`);
      return sampleOf(
        carrier.replace('{}', () => value),
        value,
      );
    }),
  );
  return { name, kind: 'shape', samples };
}

/** A family of values that are known by what stands around them; two samples of each template. */
export function contextFamily(kind: FamilyKind, [name, ...templates]: FamilyTemplate): Family {
  const samples = templates.flatMap((template, index) =>
    [0, 1].map((round) => {
      const text = expand(template, `${name}/${index}/${round}`);
      return sampleOf(text, text);
    }),
  );
  return { name, kind, samples };
}

function sampleOf(text: string, value: string): Sample {
  const [, secret = value] = /«([\s\S]*)»/.exec(text) ?? [];
  const madeUp = secret.replaceAll(CLOSE + OPEN, '').match(MADE_UP) ?? [];
  return { secret: madeUp.map(withoutMarks), text: withoutMarks(text) };
}

// Around what was made up; private characters that occur nowhere else.
const OPEN = '\uE000';
const CLOSE = '\uE001';
const MADE_UP = /\uE000[^\uE001]*\uE001/g;

const withoutMarks = (text: string): string => text.replace(/[«»\uE000\uE001]/g, '');

/** A clean text from its template. */
export function expandClean(template: string, seed: string): string {
  return withoutMarks(expand(template, seed));
}

/** Replaces `{w36}` by 36 letters and digits (see the alphabets) and `{uuid}`; the same seed gives the same text. */
function expand(template: string, seed: string): string {
  const next = randomFrom(seed);
  return template
    .replaceAll('{uuid}', UUID)
    .replace(/\{([A-Za-z])(\d+)\}/g, (_whole, name: string, count) => {
      const alphabet = ALPHABETS[name];
      if (alphabet === undefined) throw new RangeError(`There is no alphabet ${name} (in ${template}).`);
      const madeUp = Array.from({ length: Number(count) }, () => alphabet[next(alphabet.length)]);
      return OPEN + madeUp.join('') + CLOSE;
    });
}

/** A small generator (mulberry32), so that a run can be repeated. */
function randomFrom(seed: string): (below: number) => number {
  let state = [...seed].reduce((hash, char) => Math.imul(hash ^ char.charCodeAt(0), 0x01000193), 0x811c9dc5);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

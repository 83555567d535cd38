/** Shorter parts of an encoded value would be found in ordinary texts. */
const MIN_LENGTH = 6;

/** Every form in which a value is looked for. Not unique. */
export function encodingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8');
  const escaped = JSON.stringify(value).slice(1, -1);
  return [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    asciiEscaped(escaped),
    ...urlFormsOf(withoutLoneSurrogates(value)),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64FormsOf(bytes),
  ];
}

/** Half a surrogate pair cannot be URL-encoded; it is written as the bytes of U+FFFD, as UTF-8 does. */
function withoutLoneSurrogates(value: string): string {
  return Buffer.from(value, 'utf8').toString('utf8');
}

/** As JSON writers do that keep to ASCII. */
function asciiEscaped(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function urlFormsOf(value: string): readonly string[] {
  const forms = [
    encodeURIComponent(value),
    encodeURI(value),
    new URLSearchParams({ v: value }).toString().slice(2),
  ];
  const lowerCase = forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()));
  return [...forms, ...lowerCase];
}

/** The part of a base64 text that depends on these bytes only, for each of the three positions in a triple. */
function base64FormsOf(bytes: Buffer): readonly string[] {
  const inner = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const lead = [0, 2, 3][shift] ?? 0;
    const tail = (bytes.length + shift) % 3 === 0 ? 0 : 1;
    return encoded.slice(lead, encoded.length - tail);
  });
  const whole = bytes.toString('base64');
  return [whole, whole.replace(/=+$/, ''), ...inner]
    .filter((text) => text.length >= MIN_LENGTH)
    .flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

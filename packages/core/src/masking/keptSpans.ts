import { BASE64 } from './fastFind.ts';

/** Longer runs of base64 are pictures, archives or ciphertext: whoever changes a character has destroyed them. */
const LONGEST_TOKEN = 200;

/** The beginning of a `data:` URL, up to its comma. */
const DATA_URL = /data:(?:[A-Za-z]{1,32}\/[^\s,;"'`<>]{1,127})?(?:;[^\s,;"'`<>]{1,127}){0,8},/g;
const AFTER_DATA_URL = /[\s"'`<>)\]}\\]/;

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where a text holds bytes that are written as text: runs of more than 200 characters of base64, and `data:` URLs; in order. */
export function keptSpans(text: string): readonly Span[] {
  const spans = [...longRuns(text), ...dataUrls(text)].sort((a, b) => a.from - b.from);
  const apart: Span[] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last === undefined || span.from >= last.to) apart.push(span);
    else apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
  }
  return apart;
}

/** A long run has one of every so many characters of the text. */
function* longRuns(text: string): Generator<Span> {
  const is = (at: number): boolean => at >= 0 && at < text.length && BASE64[text.charCodeAt(at)] === 1;
  let done = 0;
  for (let at = LONGEST_TOKEN; at < text.length; at = Math.max(at, done) + LONGEST_TOKEN) {
    if (!is(at)) continue;
    let [from, to] = [at, at + 1];
    while (from > done && is(from - 1)) from -= 1;
    while (is(to)) to += 1;
    done = to;
    if (to - from <= LONGEST_TOKEN) continue;
    while (text[to] === '=' && to - done < 2) to += 1;
    done = to;
    yield { from, to };
  }
}

function* dataUrls(text: string): Generator<Span> {
  for (const { 0: opening, index } of text.matchAll(DATA_URL)) {
    let to = index + opening.length;
    while (to < text.length && !AFTER_DATA_URL.test(text[to] as string)) to += 1;
    yield { from: index, to };
  }
}

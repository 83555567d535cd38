import { textOfBase64 } from './encodedTexts.ts';
import {
  ALPHANUMERIC,
  type CharClass,
  charClass,
  charRuns,
  type LinesOfBytes,
  linesOfBytes,
  matchOf,
  PART,
  RUN,
} from './fastFind.ts';
import { isMadeUp } from './isSecretValue.ts';
import { type MaskRule, redacted } from './MaskRule.ts';

/** A run long enough to hold a token, with the marks that tokens are joined by. */
const RANDOM_RUN = /(?<![A-Za-z0-9+/_.:=!~-])[A-Za-z0-9][A-Za-z0-9+/_.:=!~-]{17,}/g;
/** Characters of the shortest run. */
const MIN_RUN = 18;
/** So many lines are bytes; the first of them are looked at; of these, so many hold a token. */
const [MIN_LINES, LINES_LOOKED_AT, LINES_WITH_TOKEN] = [32, 8, 6];
/** Milliseconds or seconds since 1970, in ids that are made of them. */
const TIME = /(?<![A-Za-z0-9])\d{10,13}(?![A-Za-z0-9])/g;

const IS_TIME = /^\d{10,13}$/;

/** Words of a file's, a pod's or an article's name: what is after the last of two or more of them is judged. */
const WORDS_BEFORE = /^[A-Za-z]?[a-z]{2,}(?:[-_][a-z]{2,})+[-_]/;
const CHANGE_ID = /^I[0-9a-f]{40}$/;

/** `live_…`, `os_v2_app_…`: a short first part, and a rest. */
const PREFIXED = /^([A-Za-z][A-Za-z0-9]{0,15}[_-])([A-Za-z0-9_-]{14,})$/;
const HEX_TAIL = /^(.*[_-])([0-9a-f]{16,})$/i;
const UUID_TAIL = /^(.*[_-])?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Prefixes that nothing else has: less has to follow. */
const SECRET_MODE = /(?:^|[_-])(?:sk|secret|live|prod)[_-]/i;
const SECRET_PREFIX = /(?:^|[_-])(?:sk|pat|api|key|token|secret|access|live|prod|production|sdk|auth)[_-]/i;
/** Ids that services put into their answers; one needs them to ask about an error. */
const ID_PREFIX =
  /^(?:chatcmpl|msg|call|toolu|req|resp|run|thread|asst|file|batch|org|proj|user|trace|span)[_-]/i;
/** Objects of Stripe, and keys that are made to be published. */
const OBJECT_ID =
  /^(?:(?:acct|ba|bps|card|ch|cn|cus|dp|evt|fee|ic|ich|ii|il|in|iauth|ipi|li|mandate|pi|plan|plink|pm|po|price|prod|promo|py|pyr|qt|re|setatt|seti|si|src|sub|sub_sched|taxrate|tr|trr|txi|txn|txr|vs|we)_[A-Za-z0-9]{14,32}|cs_(?:test|live)_[ab]1[A-Za-z0-9]{40,72}|sb_publishable_[A-Za-z0-9_-]{20,60})$/;
/** As nanoid makes them; what is that long and a secret has a prefix that says so. */
const NANOID = /^[A-Za-z0-9_-]{21}$/;
const NANOID_LENGTH = 21;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d)?$/;
/** Addresses of Bitcoin in base58. */
const BITCOIN = /^[13][1-9A-HJ-NP-Za-km-z]{31,33}$/;
/** An abbreviation (`sqp_`, `e2b-`), where a word (`task-`, `blob_`) would name what the hash is of. */
const ABBREVIATION = /^(?:[b-df-hj-np-tv-z]{2,7}|(?=[a-z])[a-z0-9]*\d[a-z0-9]*)[_-]$/i;
const CAPITALS = /^[A-Z]{2,12}[_-]$/;
const ABBREVIATION_BEFORE = /(?:^|[^A-Za-z0-9])[b-df-hj-np-tv-z]{2,5}\.$/;
const NAME_OF_HASH = /(?:sha|hash|commit|tree|blob|rev|md5|digest|checksum|etag|cache|snapshot|layer)/i;
const HEX = /^(?:0x)?[0-9a-f-]+$/i;
/** SHA-1; shorter ones are ids as well. */
const SHORTEST_LONG_HASH = 40;
/** No hash in use has more hex digits. */
const LONGEST_HASH = 128;

/** Hashes and public keys: random, and meant to be read. */
const PUBLIC = /^(?:sha\d{0,3}|md5|h1)[-_:=]|^AAAA[BCE][0-9A-Za-z]/i;
/** Addresses and public keys in bech32 and multibase; the usual openings of public keys and certificates in DER and PEM. */
const PUBLIC_KEY =
  /(?:^|[:=/])(?:(?:bc1[qp]|tb1q|age1|npub1)[02-9ac-hj-np-z]{30,}$|bafy[a-z2-7]{40,}|Qm[1-9A-HJ-NP-Za-km-z]{44}|MI(?:GfMA0GCS|IBIjANBgk|ICIjANBgk|IB[A-Za-z0-9+/]{12})|M[CF][A-Za-z0-9]wE?[A-Za-z0-9]?[YQ]|LS0tLS1CRUdJTiB(?:DRVJU|QVUJM))/;
const PUBLIC_BEFORE =
  /(?:base64,|sha\d{1,3}[:=-] ?|\bW\/\\{0,3}"|(?:etag|if-(?:none-)?match)["']?\s?[:=]\s?["'\\]{0,5}|"[xyne]\\{0,3}"\s?:\s?\\{0,3}"|public[_-]?key["']?\s?[=:]\s?["']?)$/i;
/** Every match of {@link PUBLIC_BEFORE} ends with one of these, or with a space behind it. */
const PUBLIC_ENDS: CharClass = charClass(',:=-"\'\\');
const PUBLIC_BEFORE_REACH = 32;
const PUBLIC_BLOCK =
  /-----BEGIN [A-Z0-9 ]{0,40}(?:PUBLIC KEY|CERTIFICATE|MESSAGE|SIGNATURE)[A-Z ]{0,20}-----[A-Za-z0-9+/=\s]{0,8192}$/;
const BLOCK_REACH = 8_192;

/** Longer parts are judged by their beginning. */
const LONGEST_PART = 1_024;

/** Characters after a prefix that says nothing, and of a part without a prefix. */
const MIN_REST = 20;
const MIN_NAMED_REST = 17;
const MIN_BARE = 30;
/** With lower case, upper case and at least two digits, or of capitals and digits. */
const MIN_BARE_MIXED = 20;
/** Characters of a part that is a token only beside another such part. */
const MIN_PART = 12;
const MIN_REST_PART = 8;

/** Tokens of vendors nobody has told us of: a short prefix and a long random rest, or a long random run. */
export const RANDOM_TOKEN_RULE: MaskRule = {
  name: 'token',
  pattern: RANDOM_RUN,
  find: randomRuns,
  replace: ({ 0: run, index }, text) => {
    if (run.includes('\n')) return run.replace(/[^\r\n]+/g, redacted('token'));
    // What opens a block begins here, and says what the block is.
    const end = run.indexOf('-----');
    return end === -1
      ? maskParts(run, index, text)
      : maskParts(run.slice(0, end), index, text) + run.slice(end);
  },
};

/** The runs of {@link RANDOM_RUN} that may hold a token, and bytes in lines as one. */
function* randomRuns(text: string): Generator<RegExpExecArray> {
  const runs = charRuns(text, RUN, MIN_RUN, mayHoldToken);
  let looked = 0;
  for (let run = runs.next(); run.done !== true; ) {
    const { index, length } = { index: run.value.index, length: run.value[0].length };
    const lines = index < looked ? null : linesOfBytes(text, index, length);
    looked = Math.max(looked, lines?.end ?? 0);
    const areBytes = lines !== null && lines.starts.length >= MIN_LINES && areTokens(text, lines, length);
    yield areBytes ? matchOf(text, index, looked) : run.value;
    run = runs.next(areBytes ? looked : undefined);
  }
}

/** Bytes are judged by the first of their lines, as those in one line are by their beginning. */
function areTokens(text: string, { starts }: LinesOfBytes, length: number): boolean {
  const holdsToken = (from: number): boolean => {
    const line = text.slice(from, from + length);
    return ALPHANUMERIC[line.charCodeAt(0)] === 1 && maskParts(line, from, text) !== line;
  };
  return starts.slice(0, LINES_LOOKED_AT).filter(holdsToken).length >= LINES_WITH_TOKEN;
}

/** A token has a digit, and a run of hex digits alone is a hash. */
function mayHoldToken(codes: Uint16Array, from: number, to: number): boolean {
  if (ALPHANUMERIC[codes[from] as number] !== 1) return false;
  let isHex = to - from <= LONGEST_HASH;
  let hasDigit = false;
  for (let at = from; at < to && (isHex || !hasDigit); at += 1) {
    const code = codes[at] as number;
    if (code >= 48 && code <= 57) hasDigit = true;
    else if (isHex) isHex = (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
  }
  return hasDigit && !isHex;
}

/** How a part of a run is read: a token by itself, one beside another one, or at most the rest of one. */
type Grade = 'token' | 'likely' | 'rest' | 'word';

/** Masks from the first random part of a run to the last one; what is around them (`file.`, `host/`) stays. */
function maskParts(run: string, index: number, text: string): string {
  if (PUBLIC.test(run)) return run;
  const parts = partsOf(run);
  const ends = randomEnds(parts);
  if (ends === null || isPublic(run, index, text)) return run;
  let [first, last] = ends;
  // The parts beside the random ones that cannot be words.
  while (parts[first - 1]?.grade === 'rest' && isNextTo(parts[first - 1], parts[first])) first -= 1;
  while (parts[last + 1]?.grade === 'rest' && isNextTo(parts[last], parts[last + 1])) last += 1;
  return run.slice(0, parts[first]?.from) + redacted('token') + run.slice(parts[last]?.to);
}

/** The parts that are too long for words, in order. */
function partsOf(run: string): readonly TokenPart[] {
  const parts: TokenPart[] = [];
  let from = 0;
  let place = 0;
  for (let at = 0; at <= run.length; at += 1) {
    if (at < run.length && PART[run.charCodeAt(at)] === 1) continue;
    if (at > from) place += 1;
    if (at - from >= MIN_REST_PART) parts.push(new TokenPart(run, from, at, place));
    from = at + 1;
  }
  return parts;
}

const isNextTo = (one: TokenPart | undefined, other: TokenPart | undefined): boolean =>
  other?.place === (one?.place ?? 0) + 1;

/** The first and the last random part. From both ends: a long run has thousands of parts. */
function randomEnds(parts: readonly TokenPart[]): readonly [number, number] | null {
  const first = parts.findIndex(({ isRandom }) => isRandom);
  if (first === -1) return null;
  const last = parts.findLastIndex(({ isRandom }) => isRandom);
  return first === last && parts[first]?.grade !== 'token' ? null : [first, last];
}

class TokenPart {
  readonly from: number;
  readonly to: number;
  /** Among all parts of the run. */
  readonly place: number;
  readonly #run: string;
  #grade: Grade | null = null;

  constructor(run: string, from: number, to: number, place: number) {
    this.from = from;
    this.to = to;
    this.place = place;
    this.#run = run;
  }

  get grade(): Grade {
    this.#grade ??= gradeOf(this.#run.slice(this.from, this.to), this.from, this.#run);
    return this.#grade;
  }

  get isRandom(): boolean {
    return this.grade === 'token' || this.grade === 'likely';
  }
}

function gradeOf(whole: string, index: number, run: string): Grade {
  // Nothing without a digit is made up.
  if (!/\d/.test(whole)) return /[a-z][A-Z]/.test(whole) ? 'rest' : 'word';
  if (whole.length > LONGEST_PART) return gradeOf(whole.slice(0, LONGEST_PART), index, run);
  if (isId(whole)) return 'word';
  return /[_-]/.test(whole) ? gradeOfJoined(whole, index, run) : gradeOfSimple(whole, index, run);
}

function gradeOfJoined(whole: string, index: number, run: string): Grade {
  const part = withoutWords(whole.replace(TIME, ''));
  if (part.length < MIN_REST_PART || ID_PREFIX.test(part) || CHANGE_ID.test(part)) return 'word';
  if (isPrefixed(part) || isBareToken(part) || isDotted(whole, index, run)) return 'token';
  if (part.length >= MIN_PART && isLikely(part, whole, { index, run })) return 'likely';
  return /\d/.test(part) || /[a-z][A-Z]/.test(part) ? 'rest' : 'word';
}

function isLikely(
  part: string,
  whole: string,
  at: { readonly index: number; readonly run: string },
): boolean {
  return HEX.test(part) ? isHexBesideHex(whole, at.index, at.run) : isMadeUp(part);
}

function isId(part: string): boolean {
  if (part.length === NANOID_LENGTH) return NANOID.test(part) && !SECRET_PREFIX.test(part) && !HEX.test(part);
  return OBJECT_ID.test(part) || BITCOIN.test(part) || DATE.test(part);
}

/** Without a prefix, words or the parts of a UUID. */
function gradeOfSimple(part: string, index: number, run: string): Grade {
  if (CHANGE_ID.test(part) || IS_TIME.test(part)) return 'word';
  const isHex = HEX.test(part);
  if ((isHex ? part.length > LONGEST_HASH : isBareRun(part)) || isDotted(part, index, run)) return 'token';
  if (part.length < MIN_PART) return 'rest';
  return (isHex ? isHexBesideHex(part, index, run) : isMadeUp(part)) ? 'likely' : 'rest';
}

/** What a prefix says of a secret is kept. */
function withoutWords(part: string): string {
  return part.replace(WORDS_BEFORE, (words) => (SECRET_PREFIX.test(words) ? words : ''));
}

function isPrefixed(part: string): boolean {
  const id = UUID_TAIL.exec(part);
  if (id !== null) return SECRET_PREFIX.test(id[1] ?? '');
  const hash = HEX_TAIL.exec(part);
  if (hash !== null) return isHexToken(hash[1] ?? '', hash[2] ?? '');
  const [, prefix = '', rest = ''] = PREFIXED.exec(part) ?? [];
  return isLongEnough(rest, prefix, part) && isMadeUp(rest, rest.length >= MIN_BARE);
}

function isLongEnough(rest: string, prefix: string, part: string): boolean {
  if (rest.length >= MIN_REST || SECRET_MODE.test(part)) return true;
  return rest.length >= MIN_NAMED_REST && SECRET_PREFIX.test(prefix);
}

function isHexToken(name: string, hash: string): boolean {
  if (SECRET_PREFIX.test(name)) return true;
  if (hash.length < MIN_REST || PUBLIC.test(name)) return false;
  if (name.endsWith('_') && hash.length >= SHORTEST_LONG_HASH && !NAME_OF_HASH.test(name)) return true;
  return ABBREVIATION.test(name) || (CAPITALS.test(name) && /[a-f]/.test(hash)) || isMadeUp(name);
}

function isBareToken(part: string): boolean {
  if (HEX.test(part) || HEX_TAIL.test(part) || UUID_TAIL.test(part)) return part.length > LONGEST_HASH;
  return isBareRun(part) || part.split(/[_-]/).some(isBareRun);
}

function isBareRun(run: string): boolean {
  if (run.length < MIN_BARE_MIXED || HEX.test(run)) return false;
  if (run.length < MIN_BARE) {
    const isMixed = /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d(?:.*\d)/.test(run);
    // An id that sorts by time begins with digits; a key id with letters.
    if (!isMixed && !/^[A-Z]{2}[A-Z0-9]+$/.test(run)) return false;
  }
  return isMadeUp(run);
}

function isHexBesideHex(part: string, index: number, run: string): boolean {
  const end = index + part.length;
  if (part.length < 24 || (run[index - 1] !== '.' && run[end] !== '.')) return false;
  return (
    /[0-9a-f]{24}\.$/.test(run.slice(Math.max(0, index - 25), index)) ||
    /^\.[0-9a-f]{24}/.test(run.slice(end, end + 25))
  );
}

/** `mlsn.` and 64 hex digits; a file name (`app.<hash>.js`) goes on with a dot. */
function isDotted(part: string, index: number, run: string): boolean {
  if (part.length < MIN_BARE || run[index - 1] !== '.' || run[index + part.length] === '.') return false;
  return ABBREVIATION_BEFORE.test(run.slice(Math.max(0, index - 8), index));
}

/** Not a secret although it is random: a public key, a hash, or a text in base64, in which other rules have looked. */
function isPublic(run: string, index: number, text: string): boolean {
  if (PUBLIC_KEY.test(run) || textOfBase64(run) !== null) return true;
  let end = index - 1;
  while (end > index - PUBLIC_BEFORE_REACH && text.charCodeAt(end) <= 32) end -= 1;
  const before = (): string => text.slice(Math.max(0, index - PUBLIC_BEFORE_REACH), index);
  if (PUBLIC_ENDS[text.charCodeAt(end)] === 1 && PUBLIC_BEFORE.test(before())) return true;
  return holdsBlock(text) && PUBLIC_BLOCK.test(text.slice(Math.max(0, index - BLOCK_REACH), index));
}

let lastText = '';
let lastHoldsBlock = false;

/** Asked for every run of one text. */
function holdsBlock(text: string): boolean {
  if (text !== lastText) {
    lastText = text;
    lastHoldsBlock = text.includes('-----BEGIN');
  }
  return lastHoldsBlock;
}

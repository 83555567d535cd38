import { textOfBase64 } from './encodedTexts.ts';
import { type MaskRule, redacted } from './MaskRule.ts';
import { isMadeUp } from './madeUp.ts';

/** A run long enough to hold a token, with the marks that tokens are joined by. */
const RUN = /(?<![A-Za-z0-9+/_.:=!~-])[A-Za-z0-9][A-Za-z0-9+/_.:=!~-]{17,}/g;
const PART = /[A-Za-z0-9+_-]+/g;
/** Milliseconds or seconds since 1970, in ids that are made of them. */
const TIME = /(?<![A-Za-z0-9])\d{10,13}(?![A-Za-z0-9])/g;

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
  /(?:base64,|sha\d{1,3}[:=-] ?|"[xyne]\\{0,3}"\s?:\s?\\{0,3}"|public[_-]?key["']?\s?[=:]\s?["']?)$/i;
const PUBLIC_BEFORE_REACH = 24;
const PUBLIC_BLOCK =
  /-----BEGIN [A-Z0-9 ]{0,40}(?:PUBLIC KEY|CERTIFICATE|MESSAGE|SIGNATURE)[A-Z ]{0,20}-----[A-Za-z0-9+/=\s]{0,8192}$/;
const BLOCK_REACH = 8_192;

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
  pattern: RUN,
  replace: ({ 0: run, index }, text) => {
    // What opens a block begins here, and says what the block is.
    const end = run.indexOf('-----');
    return end === -1
      ? maskParts(run, index, text)
      : maskParts(run.slice(0, end), index, text) + run.slice(end);
  },
};

/** How a part of a run is read: a token by itself, one beside another one, or at most the rest of one. */
type Grade = 'token' | 'likely' | 'rest' | 'word';

interface Part {
  readonly from: number;
  readonly to: number;
  readonly grade: Grade;
}

/** Masks from the first random part of a run to the last one; what is around them (`file.`, `host/`) stays. */
function maskParts(run: string, index: number, text: string): string {
  if (!/\d/.test(run) || PUBLIC.test(run) || PUBLIC_KEY.test(run)) return run;
  const parts = [...run.matchAll(PART)].map((match): Part => {
    const { 0: part, index: from } = match;
    return { from, to: from + part.length, grade: gradeOf(part, from, run) };
  });
  const random = parts.filter(({ grade }) => grade === 'token' || grade === 'likely');
  if (random.length < 2 && random[0]?.grade !== 'token') return run;
  if (isPublic(index, text) || textOfBase64(run) !== null) return run;
  const [first, last] = extended(parts, random);
  return run.slice(0, first.from) + redacted('token') + run.slice(last.to);
}

/** Takes in the parts beside the random ones that cannot be words. */
function extended(parts: readonly Part[], random: readonly Part[]): readonly [Part, Part] {
  let first = parts.indexOf(random[0] as Part);
  let last = parts.indexOf(random.at(-1) as Part);
  while (parts[first - 1]?.grade === 'rest') first -= 1;
  while (parts[last + 1]?.grade === 'rest') last += 1;
  return [parts[first] as Part, parts[last] as Part];
}

function gradeOf(whole: string, index: number, run: string): Grade {
  const part = withoutWords(whole.replace(TIME, ''));
  if (part.length < MIN_REST_PART || ID_PREFIX.test(part) || CHANGE_ID.test(part)) return 'word';
  if (isPrefixed(part) || isBare(part) || isDotted(whole, index, run)) return 'token';
  if (part.length >= MIN_PART && (HEX.test(part) ? isHexBesideHex(whole, index, run) : isMadeUp(part))) {
    return 'likely';
  }
  return /\d/.test(part) || /[a-z][A-Z]/.test(part) ? 'rest' : 'word';
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

function isBare(part: string): boolean {
  if (HEX.test(part) || HEX_TAIL.test(part) || UUID_TAIL.test(part)) return part.length > LONGEST_HASH;
  return isBareRun(part) || part.split(/[_-]/).some(isBareRun);
}

function isBareRun(run: string): boolean {
  const isMixed = /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d(?:.*\d)/.test(run);
  // An id that sorts by time begins with digits; a key id with letters.
  const isCapitals = /^[A-Z]{2}[A-Z0-9]+$/.test(run);
  return run.length >= (isMixed || isCapitals ? MIN_BARE_MIXED : MIN_BARE) && !HEX.test(run) && isMadeUp(run);
}

function isHexBesideHex(part: string, index: number, run: string): boolean {
  const [before, after] = [run.slice(Math.max(0, index - 25), index), run.slice(index + part.length)];
  return part.length >= 24 && (/[0-9a-f]{24}\.$/.test(before) || /^\.[0-9a-f]{24}/.test(after));
}

/** `mlsn.` and 64 hex digits; a file name (`app.<hash>.js`) goes on with a dot. */
function isDotted(part: string, index: number, run: string): boolean {
  if (part.length < MIN_BARE || run[index + part.length] === '.') return false;
  return ABBREVIATION_BEFORE.test(run.slice(Math.max(0, index - 8), index));
}

function isPublic(index: number, text: string): boolean {
  const before = text.slice(Math.max(0, index - BLOCK_REACH), index);
  return PUBLIC_BEFORE.test(before.slice(-PUBLIC_BEFORE_REACH)) || PUBLIC_BLOCK.test(before);
}

import { isPlaceholder } from './MaskRule.ts';
import { isMadeUp } from './madeUp.ts';
import { isReference, MAX_LOOKED_AT } from './references.ts';

/** Words that stand for a kind of value, references, and short numbers: settings and types, not secrets. */
const NOT_A_SECRET =
  /^(?:true|false|null|none|nil|undefined|string|number|boolean|bool|any|unknown|void|object|required|optional|yes|no|on|off|read|write|inherit|always|never|auto|default|basic|env|~|\d{1,5}|(?:await|process\.env|import\.meta|os\.environ|secrets\.)\S{0,128})[,;.)]{0,4}$/i;

/**
 * `hash(input)`, `config.get(`: code that makes a value. A name of letters alone, so that `Pa55(word)` is none; `live(12ab)`
 * is none, since nothing in code begins with a digit and goes on with letters, and a capital is called by nobody with a
 * number (`Summer(2024)`).
 */
const CALL =
  /^(?:(?:new )?[A-Za-z_$]+(?:\.[A-Za-z_$]+){0,8})\((?:$|(?!\d+[A-Za-z])[^()]{0,200}\))(?<!^[A-Z][a-z]{0,64}\(\d{1,200}\))/;

/** `password-reset`, `db.credentials/v2`: words with separators, at most with a version. */
const WORDS = /^[A-Za-z]+(?:[-_.:/][A-Za-z]*\d{0,4})*$/;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Also behind words, as keys of a cache are: `Linux-node-20-<hash>`. */
const HASH = /^(?:[A-Za-z0-9.]{1,32}[-_:/]){0,8}(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64,128})$/i;

/** True for code that makes a value. */
function isCall(value: string): boolean {
  return value.length <= MAX_LOOKED_AT && CALL.test(value);
}

/** True for code, a reference or a placeholder: what stands after `password=` although it is no password. */
export function isNoValue(value: string): boolean {
  return isCall(value) || isReference(value) || FLAGS.test(value);
}

const FLAGS = /^(?:true|false|null|nil|none|undefined|yes|no)[;,)]{0,2}$/i;

/** Decides whether what follows a sensitive name is worth masking. */
export function isSecretValue(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  return (
    bare !== '' && !isPlaceholder(bare) && !NOT_A_SECRET.test(bare) && !isCall(bare) && !isReference(value)
  );
}

/** Stricter, for places where words are as likely: at least 8 characters without a space, letters and others. */
export function looksSecret(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  if (bare.length < 8 || /\s|^[./~]|:\/\//.test(bare)) return false;
  return /[\d!#$%^*+~]/.test(bare) && /[A-Za-z]/.test(bare) && !WORDS.test(bare) && isSecretValue(value);
}

/** As {@link looksSecret}, or letters of which the case changes as no word's does. For values in quotes or tags. */
export function looksSecretQuoted(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  const caseChanges = bare.match(/(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]/g)?.length ?? 0;
  return looksSecret(value) || (/^[A-Za-z]{8,}$/.test(bare) && caseChanges >= bare.length * 0.4);
}

/** Stricter still, for names that seldom hold a secret (`key`): long and mixed, and neither an id nor a hash. */
export function looksRandom(value: string): boolean {
  if (value.length > MAX_LOOKED_AT) return !isPlaceholder(value);
  const bare = withoutQuotes(value);
  if (bare.length < 16 || UUID.test(bare) || HASH.test(bare)) return false;
  return looksSecret(value) && isMadeUp(bare);
}

function withoutQuotes(value: string): string {
  return value.replace(/^[\\"'`]{1,4}/, '').replace(/[\\"'`]{1,4}$/, '');
}

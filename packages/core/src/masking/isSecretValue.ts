import { isPlaceholder } from './MaskRule.ts';

/** Words that stand for a kind of value, references, and short numbers: settings and types, not secrets. */
const NOT_A_SECRET =
  /^(?:true|false|null|none|nil|undefined|string|number|boolean|bool|any|unknown|void|object|required|optional|yes|no|env|\d{1,5}|(?:await|process\.env|import\.meta|os\.environ|secrets\.)\S{0,128})[,;.)]{0,4}$/i;

/** Decides whether what follows a sensitive name is worth masking. */
export function isSecretValue(value: string): boolean {
  const bare = value.replace(/^[\\"'`]{1,4}/, '').replace(/[\\"'`]{1,4}$/, '');
  return bare !== '' && !isPlaceholder(bare) && !NOT_A_SECRET.test(bare);
}

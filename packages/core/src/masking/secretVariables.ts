import { isPlaceholder } from './MaskRule.ts';

/** Shorter values are more likely settings. */
const MIN_LENGTH = 8;

/** In any place of a name: `DB_PASSWORD_2`, `SECRET_KEY_BASE`. */
const SAYS_SECRET = /(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|SECRETS?|CREDENTIALS?|APIKEY)(?:_|$)/i;
/** At the end of a name. `PWD` alone is the working directory. */
const ENDS_SECRET =
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PASS|_PWD|_AUTH|_DSN|_PAT)(?:_\d{1,3})?$/i;
/** About a secret, not one: where it lies, what it is called, how long it lives. */
const ABOUT_SECRET =
  /(?:NAME|URL|URI|FILE|PATH|DIR|ARN|TTL|LENGTH|MIN|MAX|USER|USERNAME|REGION|ENABLED|PROVIDER|BACKEND|TYPE)$/i;

/** Values people write where a secret goes later, and settings. */
const COMMON_WORDS = new Set(
  'changeme change-me change_me disabled enabled required optional password secretsecret undefined anonymous development production localhost testtest test-key test-token test-secret your-key-here your-api-key example placeholder default1 internal external username postgres administrator keychain osxkeychain'.split(
    ' ',
  ),
);

const PATH_OR_URL = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:\\|file:|https?:\/\/[^@]*$)/;

/** Decides by a variable's name and value whether it holds a secret. */
export function isSecretVariable(name: string, value: string): boolean {
  const saysSecret = (SAYS_SECRET.test(name) && !ABOUT_SECRET.test(name)) || ENDS_SECRET.test(name);
  return saysSecret && value.length >= MIN_LENGTH && !isCommon(value);
}

function isCommon(value: string): boolean {
  if (COMMON_WORDS.has(value.toLowerCase()) || PATH_OR_URL.test(value) || isPlaceholder(value)) return true;
  return new Set(value).size < 3 || /^\d{1,9}$/.test(value);
}

import { DevsError } from '../errors/DevsError.ts';
import { secretRegistry } from '../masking/SecretRegistry.ts';

/**
 * What a whole state file is encrypted with: 32 random bytes; or a text of at least 16 characters, from which the driver
 * derives them each time the file is opened. A text `raw:` with 64 hexadecimal digits is the 32 bytes themselves.
 */
export type EncryptionKey = string | Uint8Array;

const KEY_BYTES = 32;
const LEAST_CHARACTERS = 16;

const RAW = 'raw:';
const RAW_KEY = /^raw:[0-9a-f]{64}$/i;

/** SQLite has no further use of it: it asks for memory instead of temporary files, which are not encrypted. */
export const ENCRYPTED_TEMP_STORE = 2;

/**
 * A key as the driver takes it. From then on it is masked wherever something is shown.
 *
 * @throws DevsError `CONFIG_INVALID` for a key that is too short, or none; TypeError for another type. Neither says the key.
 */
export function driverKey(key: EncryptionKey): Buffer {
  if (typeof key !== 'string' && !(key instanceof Uint8Array))
    throw new TypeError('encryptionKey: expected a string or a Uint8Array');
  const text = typeof key === 'string' ? key : `${RAW}${Buffer.from(key).toString('hex')}`;
  assertStrong(key, text);
  const hex = text.startsWith(RAW) ? text.slice(RAW.length) : null;
  secretRegistry.register(hex ?? text);
  if (hex !== null) secretRegistry.register(Buffer.from(hex, 'hex').toString('base64'));
  return Buffer.from(text);
}

function assertStrong(key: EncryptionKey, text: string): void {
  if (typeof key !== 'string') {
    if (key.length !== KEY_BYTES) throw weak(`${key.length} bytes`);
  } else if (text.startsWith(RAW) ? !RAW_KEY.test(text) : text.length < LEAST_CHARACTERS) {
    throw weak(text.startsWith(RAW) ? 'raw: without 64 hexadecimal digits' : `${text.length} characters`);
  } else if (Buffer.from(text).toString() !== text) {
    throw weak('a string with a lone surrogate');
  }
}

function weak(what: string): DevsError {
  return new DevsError(
    `The encryption key must be ${KEY_BYTES} bytes or a string of at least ${LEAST_CHARACTERS} characters, got ${what}.`,
    {
      code: 'CONFIG_INVALID',
      remedy:
        "Create a key and keep it safe, for example: node -p \"'raw:' + crypto.randomBytes(32).toString('hex')\".",
    },
  );
}

/** For runs that have a file each elsewhere: those are encrypted by what keeps them. @throws DevsError `CONFIG_INVALID` */
export function refuseKey(key: EncryptionKey | undefined): void {
  if (key === undefined) return;
  throw new DevsError(
    'encryptionKey (DEVS_ENCRYPTION_KEY) encrypts a state file, but these runs are in a cluster.',
    {
      code: 'CONFIG_INVALID',
      remedy: 'Remove it. To encrypt the files of a cluster, use `codec`: postgres({ url, codec }).',
    },
  );
}

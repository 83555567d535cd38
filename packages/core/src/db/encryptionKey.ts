import { closeSync, openSync, readSync } from 'node:fs';
import { DevsError, isDevsError } from '../errors/DevsError.ts';
import { secretRegistry } from '../masking/SecretRegistry.ts';
import { driverHolding } from './openFiles.ts';
import { withStateFaults } from './sqliteFault.ts';

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

const MAGIC = Buffer.from('SQLite format 3\0');

/** Where the header of a file goes on in plain text, encrypted or not. */
const PLAIN_FROM = 16;
const PLAIN_TO = 24;

/** Bytes that encryption reserves at the end of each page. */
const RESERVED = 32;

/** Which the format fixes: shares of a page, of 255 and of 32. */
const SHARES = Buffer.from([64, 32, 32]);

/**
 * Runs what opens a file, with typed storage faults. Of a file whose beginning cannot be read as that of a database it says whether the key is missing,
 * is one too many or is the wrong one.
 *
 * @throws DevsError `STATE_KEY_MISMATCH`, those of `withStateFaults`; what `open` throws.
 */
export function withKeyFaults<T>(path: string, hasKey: boolean, open: () => T): T {
  try {
    return withStateFaults(open);
  } catch (error) {
    if (!isDevsError(error, 'STATE_CORRUPT') || error.context['sqlite'] !== 'SQLITE_NOTADB') throw error;
    throw keyFault(path, hasKey, error) ?? error;
  }
}

function keyFault(path: string, hasKey: boolean, cause: DevsError): DevsError | null {
  const kind = fileKind(path);
  if (kind === null || (kind === 'plain' && !hasKey)) return null;
  const [message, remedy] = FAULTS[kind === 'encrypted' && hasKey ? 'wrong' : kind];
  return new DevsError(`${path} ${message}`, {
    code: 'STATE_KEY_MISMATCH',
    remedy: `${remedy} Nothing was written.`,
    context: { path },
    cause,
  });
}

const FAULTS: Readonly<Record<'plain' | 'wrong' | 'encrypted', readonly [message: string, remedy: string]>> =
  {
    plain: [
      'is not encrypted, but a key is set.',
      'Remove the key, or encrypt the file with devs admin rekey or rekey() of @devs/core.',
    ],
    wrong: [
      'cannot be opened with this key: the key is wrong, or the first page of the file is damaged.',
      'Use the key of this file (for a backup, the key before the rekey), or restore a backup.',
    ],
    encrypted: [
      'is encrypted, but no key is set.',
      'Set its key: encryptionKey in a program, DEVS_ENCRYPTION_KEY for devs.',
    ],
  };

/** `null` for neither. What this process has open is not read here: closing it would drop the locks that SQLite holds. */
function fileKind(path: string): 'plain' | 'encrypted' | null {
  const holder = driverHolding(path);
  if (holder !== null) return holder === 'cipher' ? 'encrypted' : null;
  const header = readHeader(path);
  if (header === null) return null;
  if (header.subarray(0, PLAIN_FROM).equals(MAGIC)) return 'plain';
  return isHeader(header) ? 'encrypted' : null;
}

/** What is left readable of an encrypted file: the size of a page, and constants. */
function isHeader(header: Buffer): boolean {
  const pageSize = header.readUInt16BE(PLAIN_FROM);
  const isSize = pageSize === 1 || (pageSize >= 512 && (pageSize & (pageSize - 1)) === 0);
  return isSize && header[20] === RESERVED && header.subarray(21, PLAIN_TO).equals(SHARES);
}

function readHeader(path: string): Buffer | null {
  const header = Buffer.alloc(PLAIN_TO);
  try {
    const descriptor = openSync(path, 'r');
    try {
      return readSync(descriptor, header, 0, PLAIN_TO, 0) === PLAIN_TO ? header : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

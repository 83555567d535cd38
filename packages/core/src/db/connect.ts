import { createRequire } from 'node:module';
import BetterSqlite3, { type Database, type Options } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { ENCRYPTED_TEMP_STORE } from './encryptionKey.ts';
import { driverHolding, recordOpen, type SqliteCopy } from './openFiles.ts';

/** The path of a database that ends with its connection. */
export const MEMORY = ':memory:';

const PLAIN = 'better-sqlite3';
const CIPHER = 'better-sqlite3-multiple-ciphers';
const CIPHER_RANGE = '^13.0.3';

/** What the driver with ciphers has more than the other. */
interface CipherDatabase extends Database {
  key(key: Buffer): number;
  rekey(key: Buffer): number;
}

type OpenCipher = new (path: string, options?: Options) => CipherDatabase;

const encrypted = new WeakSet<Database>();

let driverFits = false;
let cipher: OpenCipher | null = null;

/** The driver loads its native part with the first connection. */
export function connect(path: string | Buffer, options?: Options): Database {
  if (!driverFits) {
    assertDriverFits(installedDriver(import.meta.url, PLAIN), process.versions.node);
    driverFits = true;
  }
  const open = (): Database => new BetterSqlite3(path, options);
  return typeof path !== 'string' || path === MEMORY
    ? loadDriver(PLAIN, open)
    : openedBy('plain', path, open);
}

/** {@link connect}, or with a key {@link connectCipher}. */
export function connectKeyed(path: string, key: Buffer | null, options?: Options): Database {
  return key === null ? connect(path, options) : connectCipher(path, key, options);
}

/**
 * {@link connect} by the driver that encrypts.
 *
 * @param key - Of the file; `null` for one that is not encrypted.
 * @throws DevsError `CONFIG_INVALID` where that driver is not installed, or cannot be loaded.
 */
export function connectCipher(path: string, key: Buffer | null, options?: Options): CipherDatabase {
  const Cipher = cipherDriver();
  const db = openedBy('cipher', path, () => new Cipher(path, options));
  if (key === null) return db;
  try {
    db.pragma("cipher = 'chacha20'");
    db.key(key);
    db.pragma(`temp_store = ${ENCRYPTED_TEMP_STORE}`);
  } catch (error) {
    db.close();
    throw error;
  }
  encrypted.add(db);
  return db;
}

/** Whether a connection's file is encrypted; `null` for one in memory, and where its opener alone knows. */
export function isEncrypted(db: Database): boolean | null {
  if (encrypted.has(db)) return true;
  return db.memory || 'rekey' in db ? null : false;
}

/** An empty database in memory without any settings, to try migrations on. */
export function openScratch(): Database {
  return connect(MEMORY);
}

function openedBy<Opened extends Database>(driver: SqliteCopy, path: string, open: () => Opened): Opened {
  const holder = driverHolding(path);
  if (holder !== null && holder !== driver) throw openOtherwise(path, driver);
  const db = loadDriver(driver === 'plain' ? PLAIN : CIPHER, open);
  recordOpen(db, path, driver);
  return db;
}

function loadDriver<Opened>(driver: string, open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    throw toDriverFault(error, driver) ?? error;
  }
}

/** @throws DevsError `CONFIG_INVALID` where the driver that encrypts is not installed, or cannot be loaded. */
export function assertCipherDriver(): void {
  cipherDriver();
}

/** Loaded with the first key: who has none does not need it. */
function cipherDriver(): OpenCipher {
  cipher ??= loadCipher();
  return cipher;
}

function loadCipher(): OpenCipher {
  const manifest = installedDriver(import.meta.url, CIPHER);
  if (manifest !== null) assertDriverFits(manifest, process.versions.node);
  try {
    return createRequire(import.meta.url)(CIPHER) as OpenCipher;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    throw isMissing ? cipherNotInstalled(error) : (toDriverFault(error, CIPHER) ?? error);
  }
}

function cipherNotInstalled(cause: unknown): DevsError {
  return new DevsError(`An encrypted state file needs a driver that is not installed: ${CIPHER}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Run npm install ${CIPHER}@${CIPHER_RANGE}, then start again. Nothing was written.`,
    cause,
  });
}

function openOtherwise(path: string, driver: SqliteCopy): DevsError {
  const [open, asked] = driver === 'plain' ? ['with', 'without'] : ['without', 'with'];
  return new DevsError(
    `The state file ${path} is already open ${open} a key in this process and cannot be opened ${asked} one.`,
    {
      code: 'STATE_KEY_MISMATCH',
      remedy: 'Use the same encryptionKey (DEVS_ENCRYPTION_KEY) everywhere, or none everywhere.',
      context: { path },
    },
  );
}

const DRIVER = 'better-sqlite3';

/** What drivers up to 12 say when their installation script was not run: package managers may be told to skip them. */
const NOT_BUILT = 'Could not locate the bindings file';

/** The message of drivers up to 12 in a bundle outside of any package. */
const NO_ROOT = 'Could not find module root given file';

/** What drivers from 13 on load where none of the builds they bring fits the machine. */
const NO_BUILD = /^Cannot find module '[^'\n]*better_sqlite3\.node'/;

/** What the `package.json` of a driver says about itself. */
export interface DriverManifest {
  readonly name?: string;
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

/** The driver that a module gets; `null` where it cannot be told, as in a bundle that lies elsewhere. */
export function installedDriver(moduleUrl: string, name: string = DRIVER): DriverManifest | null {
  try {
    return createRequire(moduleUrl)(`${name}/package.json`) as DriverManifest;
  } catch {
    return null;
  }
}

/**
 * To call before the driver's native part is loaded: a Node.js that is too old for it ends with a segmentation fault.
 *
 * @param node - `process.versions.node`
 * @throws DevsError `CONFIG_INVALID`
 */
export function assertDriverFits(driver: DriverManifest | null, node: string): void {
  const least = /^>=\s*(\d+)/.exec(driver?.engines?.node ?? '')?.[1];
  if (least === undefined || Number.parseInt(node, 10) >= Number(least)) return;
  const name = driver?.name ?? DRIVER;
  throw new DevsError(`${name} ${driver?.version} needs Node.js ${least} or later; this is ${node}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Use Node.js ${least} or later, or install ${name} 12 (\`npm install ${name}@12\`).`,
  });
}

/** The driver's native part cannot be loaded, because of how it was installed; `null` for any other error. */
export function toDriverFault(error: unknown, driver: string = DRIVER): DevsError | null {
  if (!(error instanceof Error)) return null;
  if (isBundled(error, driver)) return bundled(error, driver);
  if (NO_BUILD.test(error.message)) return withoutBuild(error, driver);
  const isOfAnotherNode = 'code' in error && error.code === 'ERR_DLOPEN_FAILED';
  if (!isOfAnotherNode && !error.message.startsWith(NOT_BUILT)) return null;
  const why = isOfAnotherNode
    ? 'was built for another Node.js version or machine'
    : 'was installed without its build';
  return new DevsError(`${driver} ${why}; this is Node.js ${process.version}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Run \`npm rebuild ${driver}\` (or \`pnpm rebuild ${driver}\`) with this Node.js, or reinstall.`,
    cause: error,
  });
}

/** A driver looks for its native part in its own folder. In a bundle, it looks beside the bundle. */
function isBundled({ message }: Error, driver: string): boolean {
  if (message.startsWith(NO_ROOT)) return true;
  const looked = NO_BUILD.test(message) || (message.startsWith(NOT_BUILT) && message.includes('→'));
  return looked && !new RegExp(`[\\\\/]${driver}[\\\\/]`).test(message);
}

function bundled(error: Error, driver: string): DevsError {
  return new DevsError(`${driver} was bundled into this program, so its native part cannot be found.`, {
    code: 'CONFIG_INVALID',
    remedy: `Leave it out of the bundle (esbuild: \`--external:${driver}\`) and install it where the program runs: \`npm install ${driver}\`.`,
    cause: error,
  });
}

function withoutBuild(error: Error, driver: string): DevsError {
  return new DevsError(`${driver} has no build for this machine (${process.platform} ${process.arch}).`, {
    code: 'CONFIG_INVALID',
    remedy: `Compile it once: \`npm run build-release\` in the folder node_modules/${driver}, with node-gyp and a C++ compiler.`,
    cause: error,
  });
}

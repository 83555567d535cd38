import { DevsError, type DevsErrorOptions, isDevsError } from '../errors/DevsError.ts';

type Fault = Pick<DevsErrorOptions, 'remedy'> & {
  readonly code: 'STATE_DISK_FULL' | 'STATE_IO' | 'STATE_CORRUPT' | 'STATE_REPLACED';
  readonly message: string;
};

const DISK_FULL: Fault = {
  code: 'STATE_DISK_FULL',
  message: 'The disk that holds the state file is full.',
  remedy: 'Free space on that disk, then run the same command again. Committed data is safe.',
};
const NOT_WRITABLE: Fault = {
  code: 'STATE_IO',
  message: 'The state file cannot be read or written.',
  remedy:
    'Check the path, the permissions of the file and its folder, and the disk. Then run the same command again.',
};
const READ_ONLY: Fault = {
  code: 'STATE_IO',
  message: 'Cannot write the state file: the file, its folder or its disk is read-only.',
  remedy:
    'Make it writable, then run the same command again. Until then you can read it with devs status, gates, show and log.',
};
const BUSY: Fault = {
  code: 'STATE_IO',
  message: 'Other processes kept the state file locked for longer than a write waits.',
  remedy:
    'Run the same command again; nothing was written. If it fails again, find the process with a long transaction on the file, or let writes wait longer (busyTimeoutMs, DEVS_BUSY_TIMEOUT_MS).',
};
const NO_MEMORY: Fault = {
  code: 'STATE_IO',
  message: 'There is not enough memory to read or write the state file.',
  remedy: 'Free memory, then run the same command again. Committed data is safe.',
};
const CORRUPT: Fault = {
  code: 'STATE_CORRUPT',
  message: 'The state file is damaged, or it is not a SQLite database.',
  remedy:
    'Keep a copy of the folder, then restore a backup or recover the file with the sqlite3 command line.',
};

const MOVED: Fault = {
  code: 'STATE_REPLACED',
  message: 'The state file was deleted, moved or replaced while it was being opened.',
  remedy: 'Run the same command again.',
};

const NOT_OURS: Fault = {
  code: 'STATE_CORRUPT',
  message: 'The state file does not have the expected content',
  remedy: 'Run devs admin doctor to find the damaged part, then restore a backup.',
};

/** By primary result code: `SQLITE_IOERR_FSYNC` is an `IOERR`. */
const FAULTS: Readonly<Record<string, Fault>> = {
  FULL: DISK_FULL,
  IOERR: NOT_WRITABLE,
  CANTOPEN: NOT_WRITABLE,
  READONLY: READ_ONLY,
  PERM: NOT_WRITABLE,
  AUTH: NOT_WRITABLE,
  NOLFS: NOT_WRITABLE,
  ABORT: NOT_WRITABLE,
  NOMEM: NO_MEMORY,
  BUSY,
  LOCKED: BUSY,
  PROTOCOL: BUSY,
  CORRUPT,
  NOTADB: CORRUPT,
  FORMAT: CORRUPT,
  INTERNAL: CORRUPT,
};

/** Where the detail says more: the index of the log in shared memory is a file, too. */
const EXACT_FAULTS: Readonly<Record<string, Fault>> = {
  SQLITE_IOERR_SHMSIZE: DISK_FULL,
  SQLITE_READONLY_DBMOVED: MOVED,
};

/** The general result code: no such table or column, malformed JSON. */
const UNINTELLIGIBLE = 'SQLITE_ERROR';

const FAULT_CODES = ['STATE_DISK_FULL', 'STATE_IO', 'STATE_CORRUPT', 'STATE_REPLACED'] as const;

/**
 * The state file's own failures as typed errors: disk full, input/output, corruption. A fault that is typed already is
 * returned as it is.
 *
 * @returns `null` for everything else: a constraint, a wrong argument, another error of the engine.
 */
export function toStateFault(error: unknown): DevsError | null {
  if (FAULT_CODES.some((code) => isDevsError(error, code))) return error as DevsError;
  const sqliteCode = sqliteCodeOf(error);
  const fault =
    sqliteCode === null ? undefined : (EXACT_FAULTS[sqliteCode] ?? FAULTS[sqliteCode.split('_')[1] ?? '']);
  return fault === undefined || sqliteCode === null ? null : faultError(fault, { sqlite: sqliteCode }, error);
}

/**
 * {@link toStateFault} of a statement whose text is a constant of the engine: what SQLite cannot make sense of, such as a
 * table that is gone or JSON that is none, is damage of the file.
 */
export function toStatementFault(error: unknown): DevsError | null {
  const sqlite = sqliteCodeOf(error);
  if (sqlite !== UNINTELLIGIBLE) return toStateFault(error);
  const message = `${NOT_OURS.message}: ${(error as Error).message}.`;
  return faultError({ ...NOT_OURS, message }, { sqlite }, error);
}

/** True where a {@link toStatementFault} says that a part of the schema or a value is not as the engine made it. */
export function isUnintelligible(fault: DevsError): boolean {
  return fault.context['sqlite'] === UNINTELLIGIBLE;
}

/** True for errors after which forward execution must stop (law L6): the file cannot be trusted to take a write. */
export function isStorageFault(error: unknown): boolean {
  const fault = toStateFault(error);
  return fault !== null && !isUnintelligible(fault);
}

const FILE_FAULTS: Readonly<Record<string, Fault>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EROFS: READ_ONLY,
};

/** A failure of the file system while the state file's folder or the file itself is created. */
export function toFileFault(error: unknown, path: string): DevsError {
  const code = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
  return faultError(FILE_FAULTS[code] ?? NOT_WRITABLE, { path, errno: code }, error);
}

/** Runs a synchronous piece of database work and types the storage faults it throws. */
export function withStateFaults<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStateFault(error) ?? error;
  }
}

function sqliteCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' && error.code.startsWith('SQLITE_') ? error.code : null;
}

function faultError(
  { code, message, remedy }: Fault,
  context: Readonly<Record<string, string>>,
  cause: unknown,
): DevsError {
  return new DevsError(message, { code, remedy, context, cause });
}

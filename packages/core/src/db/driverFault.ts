import { DevsError } from '../errors/DevsError.ts';

/** What the driver says when its installation script was not run: package managers may be told to skip them. */
const NOT_BUILT = 'Could not locate the bindings file';

/** The driver's native part cannot be loaded, because of how it was installed; `null` for any other error. */
export function toDriverFault(error: unknown): DevsError | null {
  if (!(error instanceof Error)) return null;
  const isOfAnotherNode = 'code' in error && error.code === 'ERR_DLOPEN_FAILED';
  if (!isOfAnotherNode && !error.message.startsWith(NOT_BUILT)) return null;
  const why = isOfAnotherNode
    ? 'was built for another Node.js or machine'
    : 'was installed without its build';
  return new DevsError(`better-sqlite3 ${why}; this is Node.js ${process.version}.`, {
    code: 'CONFIG_INVALID',
    remedy:
      'Run `npm rebuild better-sqlite3` (or `pnpm rebuild better-sqlite3`) with this Node.js, or install anew.',
    cause: error,
  });
}

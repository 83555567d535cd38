import { usageError } from '../usageError.ts';

/**
 * What knows clusters: a package of its own, loaded where one is named.
 *
 * @throws DevsError `CONFIG_INVALID` where it, or what it needs, is not installed.
 */
export async function loadPostgres(): Promise<typeof import('@devs/postgres')> {
  try {
    return await import('@devs/postgres');
  } catch (error) {
    const missing = missingPackage(error);
    if (missing === null) throw error;
    throw usageError(
      `A cluster needs a package that is not installed: ${missing}.`,
      'Run npm install @devs/postgres where @devs/cli is installed (npm install -g @devs/postgres if devs is global), then run the command again.',
      error,
    );
  }
}

/** The name of a package that an import did not find; `null` for another error. */
export function missingPackage(error: unknown): string | null {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND') return null;
  return /Cannot find package '([^']+)'/.exec(message)?.[1] ?? null;
}

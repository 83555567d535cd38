import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import { usageError } from '../usageError.ts';
import { configPath } from './configPath.ts';
import { type ProjectConfig, projectConfigSchema } from './ProjectConfig.ts';

/** What the file says, and of which bytes that is true. */
export interface ReadConfig {
  readonly file: string;
  /** SHA-256 of the bytes that were parsed, hex; `null` where there is no file. */
  readonly sha256: string | null;
  /** The defaults where there is no file. */
  readonly config: ProjectConfig;
}

export const sha256Of = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('hex');

/**
 * The project's configuration. It is read once: what is hashed is what is parsed.
 *
 * @throws DevsError `CONFIG_INVALID` naming each field that is wrong.
 */
export async function readConfig(dir: string): Promise<ReadConfig> {
  const file = configPath(dir);
  const bytes = await readBytes(file);
  if (bytes === null) return { file, sha256: null, config: projectConfigSchema.parse({}) };
  return { file, sha256: sha256Of(bytes), config: parseConfig(bytes.toString('utf8'), file) };
}

function parseConfig(text: string, file: string): ProjectConfig {
  const parsed = projectConfigSchema.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  throw invalid(file, z.prettifyError(parsed.error), parsed.error);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(file, (error as Error).message, error);
  }
}

/** Not blocking: an archive can hold a pipe of this name, whose opening would wait for a writer. */
async function readBytes(file: string): Promise<Buffer | null> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) throw new Error('it is no file');
    return await handle.readFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw invalid(file, (error as Error).message, error);
  } finally {
    await handle?.close();
  }
}

function invalid(file: string, why: string, cause: unknown) {
  return usageError(
    `${file} cannot be used: ${why}`,
    'Correct it (docs/configuration.md lists the fields), or remove it and run devs init.',
    cause,
  );
}

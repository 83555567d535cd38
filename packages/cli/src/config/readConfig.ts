import { createHash } from 'node:crypto';
import { z } from 'zod';
import { configBytes, configPath, invalidConfig } from './configFile.ts';
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
  const bytes = await configBytes(file);
  if (bytes === null) return { file, sha256: null, config: projectConfigSchema.parse({}) };
  return { file, sha256: sha256Of(bytes), config: parseConfig(bytes.toString('utf8'), file) };
}

function parseConfig(text: string, file: string): ProjectConfig {
  const parsed = projectConfigSchema.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  throw invalidConfig(file, z.prettifyError(parsed.error), parsed.error);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidConfig(file, (error as Error).message, error);
  }
}

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { usageError } from '../usageError.ts';
import { isTracked } from './isTracked.ts';
import { type ProjectConfig, projectConfigSchema } from './ProjectConfig.ts';

/** Beside the state file, out of the agents' workspace: nothing a run writes configures the next one. */
export const configPath = (dir: string): string => path.join(dir, '.devs', 'config.json');

/**
 * The project's configuration; the defaults where there is none.
 *
 * @throws DevsError `CONFIG_INVALID` naming each field that is wrong, or when the file came with the repository: it says
 *   which commands run, and with what rights.
 */
export async function readConfig(dir: string): Promise<ProjectConfig> {
  const file = configPath(dir);
  const text = await readText(file);
  if (text === null) return projectConfigSchema.parse({});
  if (await isTracked(file)) throw foreign(file);
  return parseConfig(text, file);
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

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw invalid(file, (error as Error).message, error);
  }
}

function foreign(file: string) {
  return usageError(
    `${file} is part of the repository: its authors would say what runs on this machine.`,
    'Read it; then take it out with git rm --cached .devs/config.json, or remove it and run devs init.',
  );
}

function invalid(file: string, why: string, cause: unknown) {
  return usageError(
    `${file} cannot be used: ${why}`,
    'Correct it (docs/configuration.md lists the fields), or remove it and run devs init.',
    cause,
  );
}

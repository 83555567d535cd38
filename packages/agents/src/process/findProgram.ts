import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';

/** A program on this machine. */
export interface Program {
  /** Absolute, as it is called. */
  readonly file: string;
  /** What it consists of: a sandbox has to show it. */
  readonly folder: string;
}

/** Looks for a program before anything runs, as `execvp` would; `null` where it is not installed. */
export async function findProgram(name: string): Promise<Program | null> {
  for (const file of programCandidates(name)) {
    try {
      await access(file, constants.X_OK);
      return { file, folder: installFolder(await realpath(file)) };
    } catch {
      // Not here: the next folder of the PATH.
    }
  }
  return null;
}

function programCandidates(name: string): readonly string[] {
  if (isAbsolute(name)) return [name];
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name));
}

/** A package of npm needs the packages beside it. */
export function installFolder(file: string): string {
  const modules = `${sep}node_modules${sep}`;
  const at = file.indexOf(modules);
  return at === -1 ? dirname(file) : file.slice(0, at + modules.length - 1);
}

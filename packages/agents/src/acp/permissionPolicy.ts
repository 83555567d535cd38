import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { DevsError } from '@devs/core';
import { resolveInside } from '../workspace/pathJail.ts';
import type { AcpMode } from './AcpProgram.ts';

/** What an agent asks to be let to do. */
export interface AskedFor {
  /** As the agent has it; `null` where it does not say, or says two things. */
  readonly kind: string | null;
  /** All that it names, absolute or relative to the folder. */
  readonly paths: readonly string[];
}

export interface PermissionAnswer {
  readonly granted: boolean;
  /** For people. */
  readonly why: string;
}

/** Where the answer holds. */
export interface PolicyPlace extends AcpMode {
  /** The folder of the run. */
  readonly folder: string;
}

const READS = new Set(['read', 'search']);
const EDITS = new Set(['edit', 'delete', 'move']);

/**
 * Answers for the user: files inside the run's folder may be read, and changed where the stage changes files; commands
 * run only where a sandbox confines them. Everything else is refused.
 *
 * It holds for agents that ask. What one does without asking, only a sandbox prevents.
 */
export async function permissionFor(
  { kind, paths }: AskedFor,
  { folder, confined, readOnly }: PolicyPlace,
): Promise<PermissionAnswer> {
  if (kind === 'execute') return commandAnswer({ confined, readOnly });
  if (kind === null || !(READS.has(kind) || EDITS.has(kind)))
    return no(kind === null ? 'its kind is missing' : `${kind} is not allowed`);
  if (readOnly && EDITS.has(kind)) return no('this stage cannot change files');
  if (paths.length === 0) return no('it does not name a file');
  for (const path of paths) {
    const problem = await (EDITS.has(kind) ? whyUnwritable(folder, path) : whyUnreadable(folder, path));
    if (problem !== null) return no(problem);
  }
  return { granted: true, why: 'inside the folder of the run' };
}

function commandAnswer({ confined, readOnly }: AcpMode): PermissionAnswer {
  if (readOnly) return no('this stage cannot run commands');
  return confined ? { granted: true, why: 'inside a sandbox' } : no('commands need a sandbox');
}

const no = (why: string): PermissionAnswer => ({ granted: false, why });

const OUTSIDE = 'outside the folder of the run';

/** Why a path may not be written; `null` for a file inside the folder that no link leads to. */
async function whyUnwritable(folder: string, path: string): Promise<string | null> {
  const roots = [folder, await realpath(folder)];
  const names = roots.map((root) => (isAbsolute(path) ? relative(root, resolve(path)) : path));
  const inside = names.find((name) => !name.startsWith('..') && !isAbsolute(name));
  if (inside === undefined) return OUTSIDE;
  try {
    await resolveInside(folder, inside);
    return null;
  } catch (error) {
    return error instanceof DevsError ? error.message : 'its path cannot be read';
  }
}

/** Why a path may not be read; `null` for one that ends inside the folder, wherever links lead. */
async function whyUnreadable(folder: string, path: string): Promise<string | null> {
  const root = await realpath(folder);
  const target = await realpath(resolve(root, path)).catch(() => null);
  if (target === null) return 'the file does not exist';
  return target === root || target.startsWith(`${root}${sep}`) ? null : OUTSIDE;
}

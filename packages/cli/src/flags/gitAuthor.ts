import { askGit } from '@devs/agents/internal';
import type { WorkspacePort } from '@devs/core/internal';
import { usageError } from '../usageError.ts';

const REMEDY = "Use --author 'Ada Lovelace <ada@example.org>', or set user.name and user.email in git.";

/** Who signs a commit: `Name <address>`, else whom git knows in that folder. */
export async function gitAuthor(text: string | undefined, dir: string): Promise<WorkspacePort.Author> {
  const named = text ?? (await identIn(dir));
  const [, name, email] = /^\s*([^<>]*[^<>\s])\s*<([^<>\s]+)>/.exec(named) ?? [];
  if (name !== undefined && email !== undefined) return { name, email };
  throw usageError(`"${named}" is not a valid author.`, REMEDY);
}

async function identIn(dir: string): Promise<string> {
  try {
    return await askGit(['var', 'GIT_AUTHOR_IDENT'], { cwd: dir, readsUser: true });
  } catch (error) {
    throw usageError('Your name and email are not configured in git.', REMEDY, error);
  }
}

/** What ends a line or an address, or is not seen. */
const UNFIT = /[<>\p{Cc}\p{Cf}\p{Z}]+/gu;

/** Longer ones are not shown whole anywhere. */
const MAX_LENGTH = 200;

/**
 * Whom git names in that folder: the person who gets the commits of their runs. Reads two settings and nothing else, so a
 * repository of somebody else's can name a wrong person and do nothing more; `null` where either is missing.
 */
export async function gitIdentity(dir: string): Promise<WorkspacePort.Author | null> {
  const [name, email] = [await setting(dir, 'user.name'), await setting(dir, 'user.email')];
  return name === null || email === null ? null : { name, email };
}

async function setting(dir: string, name: string): Promise<string | null> {
  try {
    const stdout = await askGit(['config', '--get', name], { cwd: dir, readsUser: true });
    const value = stdout.replaceAll(UNFIT, ' ').replaceAll(/ +/g, ' ').trim().slice(0, MAX_LENGTH).trim();
    return value === '' ? null : value;
  } catch {
    return null; // it is not set, or git does not trust the folder
  }
}

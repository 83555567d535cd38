import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Author } from '@devs/core';
import { usageError } from '../usageError.ts';

const execute = promisify(execFile);

const REMEDY =
  "Name who signs with --author 'Ada Lovelace <ada@example.org>', or set user.name and user.email.";

/** Who signs a commit: `Name <address>`, else whom git knows in that folder. */
export async function gitAuthor(text: string | undefined, dir: string): Promise<Author> {
  const named = text ?? (await identIn(dir));
  const [, name, email] = /^\s*([^<>]*[^<>\s])\s*<([^<>\s]+)>/.exec(named) ?? [];
  if (name !== undefined && email !== undefined) return { name, email };
  throw usageError(`"${named}" is no author.`, REMEDY);
}

async function identIn(dir: string): Promise<string> {
  try {
    return (await execute('git', ['var', 'GIT_AUTHOR_IDENT'], { cwd: dir })).stdout;
  } catch (error) {
    throw usageError('git does not know who you are.', REMEDY, error);
  }
}

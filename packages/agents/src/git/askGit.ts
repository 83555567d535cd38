import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type GitRequest, gitCommand } from './gitCommand.ts';

const execute = promisify(execFile);

/** A repository may include a file that never ends. */
const TIMEOUT_MS = 5_000;

/**
 * Asks git about a folder; starts no program that its repository names.
 *
 * @returns What git wrote.
 * @throws Error of `execFile` where git is not there, says no or takes longer than 5 s.
 */
export async function askGit(
  args: readonly string[],
  { cwd, ...request }: Omit<GitRequest, 'place'> & { readonly cwd: string },
): Promise<string> {
  const { argv, env } = gitCommand(args, request);
  const [file = 'git', ...rest] = argv;
  return (await execute(file, rest, { cwd, env, timeout: TIMEOUT_MS })).stdout;
}

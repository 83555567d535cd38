import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type GitRequest, gitCommand } from './gitCommand.ts';

const execFileAsync = promisify(execFile);

/** A repository may include a file that never ends. */
const TIMEOUT_MS = 5_000;

/**
 * Runs a git command about a folder, without starting a program that its repository names.
 *
 * @returns The output of git.
 * @throws Error of `execFile` if git is missing, fails or takes longer than 5 s.
 */
export async function askGit(
  args: readonly string[],
  { cwd, ...request }: Omit<GitRequest, 'place'> & { readonly cwd: string },
): Promise<string> {
  const { argv, env } = gitCommand(args, request);
  const [file = 'git', ...rest] = argv;
  return (await execFileAsync(file, rest, { cwd, env, timeout: TIMEOUT_MS })).stdout;
}

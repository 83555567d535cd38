import { execFile } from 'node:child_process';
import path from 'node:path';
import { DevsError } from '@devs/core';
import type { Io } from '../terminal/Io.ts';
import { oneLine } from '../terminal/visible.ts';

const TIMEOUT_MS = 120_000;

/** An issue with a thousand comments is smaller. */
const MAX_BYTES = 64 * 1024 * 1024;

/** It must not ask, and its output is for programs. */
const FOR_PROGRAMS = {
  GH_PROMPT_DISABLED: '1',
  GH_NO_UPDATE_NOTIFIER: '1',
  GH_PAGER: 'cat',
  GH_FORCE_TTY: undefined,
  NO_COLOR: '1',
} as const;

/** The user whose login `gh` has. */
export interface GhUser {
  readonly io: Pick<Io, 'env' | 'cwd'>;
}

/**
 * Runs the GitHub CLI as the user, with their login. It is started outside of every repository, so that it does
 * not read their configuration: each call names its repository.
 *
 * @param stdin - Text of any length, which an argument cannot have.
 * @returns Its output.
 * @throws DevsError `GITHUB_FAILED`
 */
export function callGh(args: readonly string[], { io }: GhUser, stdin = ''): Promise<string> {
  const options = {
    cwd: path.parse(io.cwd).root,
    env: { ...io.env, ...FOR_PROGRAMS },
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_BYTES,
  };
  return new Promise((resolve, reject) => {
    const child = execFile('gh', [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(ghFailed(args, error, stderr));
    });
    // It may end without reading its input: its exit code has the reason.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

/** The output of `gh` for each kind of failure, and the remedy. The first that fits counts. */
const FAILURES: readonly { readonly said: RegExp; readonly what: string; readonly remedy: string }[] = [
  {
    said: /gh auth login|HTTP 401|Bad credentials|not logged in/i,
    what: 'is not logged in',
    remedy: 'Run gh auth login, or set GH_TOKEN, then run the command again. Nothing was started or pushed.',
  },
  {
    said: /HTTP 403|must have|not accessible|permission|SAML|required scopes/i,
    what: 'may not do this',
    remedy: 'Log in as a user with the right to do this, with gh auth login or gh auth refresh.',
  },
  {
    said: /Could not resolve to|HTTP 404|not found/i,
    what: 'found nothing',
    remedy: 'Check the repository and the number, and that your login may read them: gh auth status.',
  },
];

function ghFailed(args: readonly string[], error: Error, stderr: string): DevsError {
  const { code } = error as NodeJS.ErrnoException;
  const command = `gh ${args.slice(0, 2).join(' ')}`;
  if (code === 'ENOENT' || code === 'EACCES') {
    return githubFailed(
      'The GitHub CLI, gh, is not installed or not on PATH.',
      'Install it from https://cli.github.com, run gh auth login, then run the command again.',
      error,
    );
  }
  const said = oneLine(stderr.trim().split('\n').slice(0, 3).join(' ')) || 'it said nothing';
  // It ends with 4 where it wants a login.
  const kind = String(code) === '4' ? FAILURES[0] : FAILURES.find((each) => each.said.test(said));
  const remedy = kind?.remedy ?? 'Read the message of gh. If GitHub was unreachable, run the command again.';
  return githubFailed(`gh ${kind?.what ?? 'failed'} (${command}): ${said}`, remedy, error);
}

export const githubFailed = (message: string, remedy: string, cause?: unknown): DevsError =>
  new DevsError(message, { code: 'GITHUB_FAILED', remedy, cause });

/** @throws DevsError `GITHUB_FAILED` for text that is not JSON. */
export function parseGhJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(what, error);
  }
}

export const unreadable = (what: string, cause: unknown): DevsError =>
  githubFailed(`gh printed ${what} in a form that is not known.`, 'Update gh: version 2.40 or newer.', cause);

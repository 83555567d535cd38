import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { STATE_FILE } from '@devs/core/internal';
import type { Command } from 'commander';
import { type ClusterAt, clusterAt, schemaNamed } from '../cluster/ClusterAt.ts';
import { configPath } from '../config/configFile.ts';
import type { ExitCode } from '../exitCodes.ts';
import { quoteWord } from '../flags/commandWords.ts';
import type { Io } from '../terminal/Io.ts';
import type { Output } from '../terminal/Output.ts';
import { usageError } from '../usageError.ts';

/** The options every verb understands. */
export interface GlobalOptions {
  readonly dir?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly pager?: boolean;
  readonly trust?: string;
  readonly db?: string;
  readonly schema?: string;
}

/** One execution of one verb. */
export interface Session {
  readonly io: Io;
  readonly out: Output;
  /** The project folder, absolute. */
  readonly dir: string;
  /** Where the runs are; `null` for the state file of the project folder. */
  readonly cluster: ClusterAt | null;
  /** Of the cluster, or of one that is not named. */
  readonly schema: string;
  /** SHA-256 of the configurations that are accepted for this command. */
  readonly trusted: readonly string[];
  /** A command line the user can copy, for the same runs. */
  readonly devs: (...words: readonly string[]) => string;
}

export function newSession(io: Io, out: Output, { dir, trust, ...named }: GlobalOptions): Session {
  const cluster = clusterAt(named, io.env);
  const prefix = ['devs', ...(dir === undefined ? [] : ['--dir', dir]), ...(cluster?.words ?? [])];
  return {
    io,
    out,
    cluster,
    schema: schemaNamed(named.schema),
    dir: dir === undefined ? projectAround(io.cwd, io.env['HOME']) : namedFolder(io.cwd, dir),
    trusted: [...parseHashes('--trust', trust), ...parseHashes('DEVS_TRUST', io.env['DEVS_TRUST'])],
    devs: (...words) => [...prefix, ...words].map(quoteWord).join(' '),
  };
}

/** The key of the state file, as whoever opens one takes it. A blank one is a mistake that is told there. */
export function encryptionKeyOf({ io }: Pick<Session, 'io'>): { readonly encryptionKey?: string } {
  const encryptionKey = io.env['DEVS_ENCRYPTION_KEY'];
  return encryptionKey === undefined ? {} : { encryptionKey };
}

/** A name that is mistyped must not become a project: `devs run` would write into it. */
function namedFolder(cwd: string, dir: string): string {
  const folder = path.resolve(cwd, dir);
  if (isDirectory(folder)) return folder;
  throw usageError(
    `The folder ${folder} of --dir does not exist.`,
    'Create it, or name your project folder.',
  );
}

function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}

/** Whole hashes only: whoever writes the file could make one that begins alike. */
function parseHashes(name: string, text = ''): readonly string[] {
  const hashes = text.split(/[\s,]+/).filter((hash) => hash !== '');
  const wrong = hashes.find((hash) => !/^[0-9a-f]{64}$/i.test(hash));
  if (wrong === undefined) return hashes.map((hash) => hash.toLowerCase());
  throw usageError(
    `${name} must be a SHA-256, got ${JSON.stringify(wrong)}.`,
    'Use the 64 digits that devs trust prints.',
  );
}

/**
 * The project that a folder lies in: the nearest folder with a state file or a configuration. Never one above the top of
 * a repository, above the home folder or in it, on another file system, or whose `.devs` is another user's.
 *
 * @param home - `undefined`: there is none.
 * @returns `folder` itself where there is none above it.
 */
export function projectAround(folder: string, home: string | undefined): string {
  if (!existsSync(folder)) return folder;
  const top = home === undefined || !existsSync(home) ? null : realpathSync(home);
  const { dev } = statSync(folder);
  let at = folder;
  while (!hasProject(at)) {
    const above = path.dirname(at);
    const isEnd = above === at || realpathSync(above) === top || realpathSync(at) === top;
    if (isEnd || existsSync(path.join(at, '.git')) || statSync(above).dev !== dev) return folder;
    if (isAnothers(above)) return folder;
    at = above;
  }
  return at;
}

const hasProject = (folder: string): boolean =>
  existsSync(path.join(folder, '.devs', STATE_FILE)) || existsSync(configPath(folder));

function isAnothers(folder: string): boolean {
  const owner = statSync(path.join(folder, '.devs'), { throwIfNoEntry: false })?.uid;
  return owner !== undefined && owner !== process.getuid?.();
}

/** Whether a person sits at both ends: only then is anything asked. */
export function isTerminal({ io, out }: Session): boolean {
  return !out.json && io.stdin.isTTY === true && io.stdout.isTTY === true;
}

/** Runs the work of a verb with the options of its command line and keeps its exit code. */
export type Start = (command: Command, work: (session: Session) => Promise<ExitCode>) => Promise<void>;

/** Text under the options of a verb's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`;
}

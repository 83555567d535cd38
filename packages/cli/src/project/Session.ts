import { statSync } from 'node:fs';
import path from 'node:path';
import { type ClusterAt, clusterAt, schemaNamed } from '../cluster/ClusterAt.ts';
import { quoteWord } from '../flags/quoteWord.ts';
import type { Io } from '../terminal/Io.ts';
import type { Output } from '../terminal/Output.ts';
import { usageError } from '../usageError.ts';
import { projectAround } from './projectAround.ts';

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

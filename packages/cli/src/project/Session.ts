import path from 'node:path';
import type { Io } from '../terminal/Io.ts';
import type { Output } from '../terminal/Output.ts';

/** The options every verb understands. */
export interface GlobalOptions {
  readonly dir?: string;
  readonly json?: boolean;
  readonly color?: boolean;
  readonly pager?: boolean;
}

/** One execution of one verb. */
export interface Session {
  readonly io: Io;
  readonly out: Output;
  /** The project folder, absolute. */
  readonly dir: string;
  /** A command line the user can copy, for the same project folder. */
  readonly devs: (...words: readonly string[]) => string;
}

export function newSession(io: Io, out: Output, { dir }: GlobalOptions): Session {
  const prefix = dir === undefined ? ['devs'] : ['devs', '--dir', dir];
  return {
    io,
    out,
    dir: path.resolve(io.cwd, dir ?? '.'),
    devs: (...words) => [...prefix, ...words].map(quoted).join(' '),
  };
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

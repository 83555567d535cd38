import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Io } from '../terminal/Io.ts';
import { usageError } from '../usageError.ts';
import { decodeUtf8Text } from './decodeUtf8Text.ts';
import { readHanded } from './readHanded.ts';

/** Where the words of a brief come from. */
export interface BriefSource {
  /** A file, or `-` for stdin. */
  readonly name?: string | undefined;
  /** The words themselves. */
  readonly message?: string | undefined;
  /** A `name` that is a sentence and no file stands for itself. @defaultValue false */
  readonly mayBeWords?: boolean;
}

/**
 * Reads a brief from a file, from stdin for `-`, or takes the words as they are.
 *
 * @throws DevsError `CONFIG_INVALID` when there is none or two, or it cannot be read or is no text.
 */
export async function readBrief(
  { name, message, mayBeWords = false }: BriefSource,
  { cwd, stdin }: Pick<Io, 'cwd' | 'stdin'>,
): Promise<string> {
  if ((name === undefined) === (message === undefined)) {
    throw usageError(
      name === undefined ? 'The brief is missing.' : 'The brief is given twice: as a file and as --message.',
      "Name a Markdown file, use - for stdin, or write the brief with -m 'text'.",
    );
  }
  if (name === undefined) return message as string;
  if (mayBeWords && /\s/.test(name.trim()) && !existsSync(path.resolve(cwd, name))) return name;
  try {
    if (name === '-') return decodeUtf8Text(await readAll(stdin));
    return decodeUtf8Text(await readHanded(path.resolve(cwd, name)));
  } catch (error) {
    throw usageError(
      `Cannot read the brief ${name}: ${(error as Error).message}`,
      "Name a Markdown file, use - for stdin, or write the brief with -m 'text'.",
      error,
    );
  }
}

async function readAll(stdin: Io['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

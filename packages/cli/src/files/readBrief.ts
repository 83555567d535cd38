import path from 'node:path';
import type { Io } from '../terminal/Io.ts';
import { usageError } from '../usageError.ts';
import { readHanded } from './readHanded.ts';
import { textOf } from './textOf.ts';

/**
 * Reads a brief from a file, or from stdin for `-`.
 *
 * @throws DevsError `CONFIG_INVALID` when it cannot be read or is no text.
 */
export async function readBrief(name: string, { cwd, stdin }: Pick<Io, 'cwd' | 'stdin'>): Promise<string> {
  try {
    if (name === '-') return textOf(await readAll(stdin));
    return textOf(await readHanded(path.resolve(cwd, name)));
  } catch (error) {
    throw usageError(
      `The brief ${name} cannot be read: ${(error as Error).message}`,
      'Name a Markdown file, or - to read it from stdin.',
      error,
    );
  }
}

async function readAll(stdin: Io['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

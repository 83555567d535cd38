import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = fileURLToPath(new URL('../../../../docs/', import.meta.url));
const TEXT = readdirSync(DOCS)
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(join(DOCS, name), 'utf8').replaceAll(/[^\x20-\x7e]/g, ' '))
  .join(' ');

/** Text of this project's pages, from another place for each seed: what agents keep is text, and of use to compress as that is. */
export function proseOf(seed: number, bytes: number): string {
  const from = (seed * 7919) % (TEXT.length - bytes);
  return TEXT.slice(from, from + bytes);
}

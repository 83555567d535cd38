import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleNow } from './bundlePrograms.ts';

/** By the program's URL: its file, made from the sources when it was first asked for. */
const files = new Map<string, string>();

let folder: string | null = null;

process.on('exit', () => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});

/**
 * A TypeScript program as one JavaScript file, made once in this process; see `bundlePrograms`. For programs that find
 * nothing by their own place: no prompts, no package that is installed beside them.
 */
export function programFile(program: URL): string {
  const known = files.get(program.href);
  if (known !== undefined) return known;
  folder ??= mkdtempSync(join(tmpdir(), 'devs-programs-'));
  const source = fileURLToPath(program);
  const file = join(folder, `${files.size}-${basename(source, '.ts')}.mjs`);
  bundleNow(source, file);
  files.set(program.href, file);
  return file;
}

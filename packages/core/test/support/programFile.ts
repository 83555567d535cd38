import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from './bundlePrograms.ts';

/** By the program's URL: its file, made from the sources when it was first asked for. */
const files = new Map<string, string>();

let folder: string | null = null;

process.on('exit', () => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});

/**
 * A TypeScript program as JavaScript, made once; see `bundleProgram`. For programs that find nothing by their own place but
 * the prompts of agents: no package that is installed beside them.
 */
export function programFile(program: URL): string {
  const known = files.get(program.href);
  if (known !== undefined) return known;
  folder ??= mkdtempSync(join(tmpdir(), 'devs-programs-'));
  const file = bundleProgram(fileURLToPath(program), folder);
  files.set(program.href, file);
  return file;
}

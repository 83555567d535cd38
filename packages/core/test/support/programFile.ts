import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleModule, bundleProgram } from './bundlePrograms.ts';

/** By the URL of a source: its file, made from the sources when it was first asked for. */
const files = new Map<string, string>();

let folder: string | null = null;

process.on('exit', () => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});

/**
 * A TypeScript program as JavaScript, made once; see `bundleProgram`. For programs that find nothing by their own place but
 * the prompts of agents and the driver that encrypts: no other package that is installed beside them.
 */
export const programFile = (program: URL): string => fileOf(program, bundleProgram);

/** A module for such programs to import, made once. */
export const moduleFile = (module: URL): string => fileOf(module, bundleModule);

function fileOf(source: URL, make: (path: string, dir: string) => string): string {
  const known = files.get(source.href);
  if (known !== undefined) return known;
  folder ??= mkdtempSync(join(tmpdir(), 'devs-programs-'));
  const file = make(fileURLToPath(source), folder);
  files.set(source.href, file);
  return file;
}

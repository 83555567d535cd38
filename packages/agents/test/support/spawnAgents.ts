import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleAlone } from '../../../core/test/support/bundlePrograms.ts';
import { spawnNode, type TsProcess } from '../../../core/test/support/spawnTs.ts';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));

/** From here a program finds the packages of models. */
const PLACES = join(PACKAGE, 'node_modules', '.cache', 'devs-programs');

let place: string | null = null;

process.on('exit', () => {
  if (place !== null) rmSync(place, { recursive: true, force: true });
});

function placeWithPrompts(): string {
  mkdirSync(PLACES, { recursive: true });
  const made = mkdtempSync(join(PLACES, 'run-'));
  symlinkSync(join(PACKAGE, 'prompts'), join(made, 'prompts'), 'dir');
  return made;
}

/** Runs a TypeScript program of this package as one file, in a process that finds prompts and models. */
export function spawnAgents(
  program: URL,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TsProcess {
  place ??= placeWithPrompts();
  const source = fileURLToPath(program);
  const file = join(place, `${basename(source, '.ts')}.mjs`);
  bundleAlone(source, file);
  return spawnNode([file, ...args], env);
}

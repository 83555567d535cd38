import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checks, DevsError } from '@devs/core';

/** Dependencies are installed anew when one of these changes. */
const LOCKFILES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
] as const;

/** In the git dir: what the folder was prepared for. */
const MARK = 'devs-prepared';

export interface FolderToPrepare {
  readonly dir: string;
  readonly gitDir: string;
  readonly setup: Checks;
  readonly signal: AbortSignal;
}

/**
 * Runs the setup command once per run, and again when a lockfile has changed since.
 *
 * @throws DevsError `WORKSPACE_FAILED` with the end of its output when it fails.
 */
export async function prepareFolder({ dir, gitDir, setup, signal }: FolderToPrepare): Promise<void> {
  const mark = join(gitDir, MARK);
  const wanted = await lockHash(dir);
  if ((await textOf(mark)) === wanted) return;
  const { passed, command, output } = await setup.run({ dir, signal });
  if (!passed) {
    throw new DevsError(`The setup command failed: ${command}\n${output}`, {
      code: 'WORKSPACE_FAILED',
      remedy: `Repair it (try it in ${dir}), then resume the run.`,
      context: { command },
    });
  }
  await writeFile(mark, wanted);
}

async function lockHash(dir: string): Promise<string> {
  const texts = await Promise.all(LOCKFILES.map((name) => textOf(join(dir, name))));
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

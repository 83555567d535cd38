import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CodingCli } from './codingClis.ts';

const run = promisify(execFile);

/** Time an installation may take, ms. */
const LIMIT_MS = 5 * 60_000;

/**
 * Installs the pinned version into a folder of its own.
 *
 * @returns the folder of its programs.
 * @throws when it cannot be had on this machine.
 */
export async function installCli({ source }: CodingCli, dir: string): Promise<string> {
  if (source.registry === 'npm') {
    const named = `${source.package}@${source.version}`;
    await run('npm', ['install', '--prefix', dir, '--no-fund', '--no-audit', named], { timeout: LIMIT_MS });
    return join(dir, 'node_modules', '.bin');
  }
  await run('python3', ['-m', 'venv', dir], { timeout: LIMIT_MS });
  const bin = join(dir, 'bin');
  const named = `${source.package}==${source.version}`;
  await run(join(bin, 'pip'), ['install', '--quiet', '--retries', '0', named], { timeout: LIMIT_MS });
  return bin;
}

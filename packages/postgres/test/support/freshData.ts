import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUNDLES } from '../../../core/test/support/bundlePrograms.ts';

/** Whoever makes it may have died meanwhile, ms. */
const PATIENCE_MS = 30_000;

/**
 * Where the data of a server that was never started is kept for the whole run of the tests: `initdb` takes a second of
 * processor time, a copy a tenth. `null` where nothing is kept.
 */
function kept(): string | null {
  const ofRun = env[BUNDLES];
  return ofRun === undefined ? null : join(ofRun, 'postgres');
}

/** A folder with all that is in it, and whose it is. */
export function copyData(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
}

/** Makes a folder of data of what another server has left. True where this is the first: what it makes, others wait for. */
export async function takeFreshData(data: string): Promise<boolean> {
  const fresh = kept();
  if (fresh === null) return false;
  if (isFirst(`${fresh}.begun`)) return true;
  const until = Date.now() + PATIENCE_MS;
  while (!existsSync(fresh) && Date.now() < until) await sleep(20);
  if (existsSync(fresh)) copyData(fresh, data);
  return false;
}

/** Leaves a copy of what the first has made, and no server has opened. */
export function leaveFreshData(data: string): void {
  const fresh = kept();
  if (fresh === null || !existsSync(data)) return;
  copyData(data, `${fresh}.copy`);
  renameSync(`${fresh}.copy`, fresh);
}

function isFirst(mark: string): boolean {
  try {
    mkdirSync(mark);
    return true;
  } catch {
    return false;
  }
}

// The setup command of a trial's repository whose node_modules is a folder with all that it needs. Arguments: that folder,
// and how long it says nothing, ms.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , target, silentMs] = process.argv;
await sleep(Number(silentMs));
rmSync('node_modules', { recursive: true, force: true });
const pnpm = join(target, 'pnpm', 'bin', 'pnpm.cjs');
if (existsSync(pnpm)) {
  // A monorepo: pnpm itself links its packages, and lies beside them for its scripts.
  const args = [pnpm, 'install', '--offline', '--no-frozen-lockfile', '--silent'];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(join('node_modules', '.bin'), { recursive: true });
  symlinkSync(pnpm, join('node_modules', '.bin', 'pnpm'));
} else {
  symlinkSync(target, 'node_modules');
}

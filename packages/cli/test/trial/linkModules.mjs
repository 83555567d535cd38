// The setup command of a trial's repository: makes node_modules of the folder it runs in. Arguments: a file with the links,
// and how long it says nothing, ms.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

await sleep(Number(process.argv[3]));
const links = JSON.parse(readFileSync(process.argv[2], 'utf8'));
rmSync('node_modules', { recursive: true, force: true });
for (const [name, target] of Object.entries(links)) {
  const pnpm = join(target, 'pnpm', 'bin', 'pnpm.cjs');
  if (name === '' && existsSync(pnpm)) {
    // A monorepo: pnpm itself links its packages, and lies beside them for its scripts.
    const args = [pnpm, 'install', '--offline', '--no-frozen-lockfile', '--silent'];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
    mkdirSync(join('node_modules', '.bin'), { recursive: true });
    symlinkSync(pnpm, join('node_modules', '.bin', 'pnpm'));
  } else {
    const link = join('node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    if (name === '') rmSync('node_modules', { recursive: true, force: true });
    symlinkSync(target, name === '' ? 'node_modules' : link);
  }
}

// After each install: which better-sqlite3 this checkout works with, and which one for encrypted files. 12 is the last that
// runs on Node.js 20. Compiled with the headers of Node.js 24.19 or later it aborts the process as that ends, so newer ones get
// 13, as users do.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules/.pnpm', import.meta.url));
const isOld = Number(process.versions.node.split('.')[0]) < 22;

function link(name, version, folders) {
  const driver = join(modules, `${name}@${version}`, 'node_modules', name);
  if (!existsSync(driver)) return;
  for (const folder of folders) {
    const at = fileURLToPath(new URL(`../${folder}node_modules/${name}`, import.meta.url));
    rmSync(at, { recursive: true, force: true });
    // A junction of Windows is absolute; other links follow a checkout that is moved.
    symlinkSync(process.platform === 'win32' ? driver : relative(dirname(at), driver), at, 'junction');
  }
}

link('better-sqlite3', isOld ? '12.11.1' : '13.2.0', ['', 'packages/core/', 'packages/cli/']);
link('better-sqlite3-multiple-ciphers', isOld ? '12.11.1' : '13.0.3', ['', 'packages/core/']);

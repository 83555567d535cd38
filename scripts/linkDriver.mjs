// After each install: which better-sqlite3 this checkout works with. 12 is the last that runs on Node.js 20. Compiled
// with the headers of Node.js 24.19 or later it aborts the process as that ends, so newer ones get 13, as users do.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules/.pnpm', import.meta.url));
const links = ['', 'packages/core/', 'packages/cli/'].map((folder) =>
  fileURLToPath(new URL(`../${folder}node_modules/better-sqlite3`, import.meta.url)),
);
const version = Number(process.versions.node.split('.')[0]) < 22 ? '12.11.1' : '13.2.0';
const driver = join(modules, `better-sqlite3@${version}`, 'node_modules', 'better-sqlite3');

for (const link of existsSync(driver) ? links : []) {
  rmSync(link, { recursive: true, force: true });
  // A junction of Windows is absolute; other links follow a checkout that is moved.
  symlinkSync(process.platform === 'win32' ? driver : relative(dirname(link), driver), link, 'junction');
}

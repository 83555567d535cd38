// After each install: which better-sqlite3 this checkout works with, and which one for encrypted files. 12 is the last that
// runs on Node.js 20, and compiled there alone (.pnpmfile.cjs). Compiled with the headers of Node.js 24.19 or later it aborts the
// process as that ends, so newer ones get 13, as users do.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules', '.pnpm');
export const isOld = Number(process.versions.node.split('.')[0]) < 22;

/** Puts a link there, whatever is there. */
export function link(at, target) {
  mkdirSync(dirname(at), { recursive: true });
  rmSync(at, { recursive: true, force: true });
  // A junction of Windows is absolute; other links follow a checkout that is moved.
  symlinkSync(process.platform === 'win32' ? target : relative(dirname(at), target), at, 'junction');
}

/** The folders that have a driver beside what uses it: of our packages and of others'. */
function usersOf(name) {
  const packages = readdirSync(join(root, 'packages')).map((each) =>
    join(root, 'packages', each, 'node_modules', name),
  );
  const others = readdirSync(modules)
    .filter((each) => !each.startsWith(`${name}@`))
    .map((each) => join(modules, each, 'node_modules', name));
  return [join(root, 'node_modules', name), ...packages, ...others].filter((each) => existsSync(each));
}

function linkDriver(name, version) {
  const driver = join(modules, `${name}@${version}`, 'node_modules', name);
  if (!existsSync(driver)) return;
  for (const at of usersOf(name)) link(at, driver);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  linkDriver('better-sqlite3', isOld ? '12.11.1' : '13.2.0');
  linkDriver('better-sqlite3-multiple-ciphers', isOld ? '12.11.1' : '13.0.3');
}

// A copy of this checkout as it is now, with one of the two drivers.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copySources } from '../copySources.mjs';
import { run } from '../runProgram.mjs';

/** Node.js 20 ends with a segmentation fault under 13, which users get. */
export const DRIVERS = { 12: '12.11.1', 13: '13.2.0' };
export const driverOf = (major) => (major < 22 ? 12 : 13);

const OVERRIDE = /(?<=^overrides:\n {2}better-sqlite3: ).+$/m;
const RELEASES = 'packages/agents/test/statefiles/releases.ts';

/** Releases that the state files of this copy and of the other are kept under. */
export const RELEASE_OF = { 12: 'driver-12', 13: 'driver-13' };

function edit(path, pattern, text) {
  const before = readFileSync(path, 'utf8');
  if (!pattern.test(before)) throw new Error(`${path}: ${pattern} is not in it.`);
  writeFileSync(path, before.replace(pattern, text));
}

/** @returns its folder, installed for the machine */
export async function makeCheckout({ root, folder, driver, machine }) {
  const to = join(folder, `driver-${driver}`);
  copySources(root, to);
  await run(['git', 'init', '-q'], { cwd: to });
  edit(join(to, 'pnpm-workspace.yaml'), OVERRIDE, DRIVERS[driver]);
  edit(join(to, RELEASES), /(?<=RELEASES = \[.*)(?=\])/, `, '${RELEASE_OF[12]}', '${RELEASE_OF[13]}'`);
  const install = ['install', '--no-frozen-lockfile', '--prefer-offline'];
  await run(['pnpm', ...install], { cwd: to, env: machine.env });
  return to;
}

// The Node.js versions and package managers that the matrix runs on, from the npm registry, in exact versions.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from '../runProgram.mjs';

export const NODES = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' };
/** npm 12 needs Node.js 22. */
const NPM = { 20: '11.19.1', 22: '12.2.0', 24: '12.2.0', 26: '12.2.0' };
const PNPM = '10.34.9';

const platform = () => `${process.platform}-${process.arch}`;

/** What is not there yet is downloaded to `folder`, and stays for the next time. */
async function download(folder, wanted) {
  const missing = Object.entries(wanted).filter(([name, spec]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json');
    return (
      !existsSync(manifest) || JSON.parse(readFileSync(manifest, 'utf8')).version !== spec.split('@').at(-1)
    );
  });
  if (missing.length === 0) return;
  mkdirSync(folder, { recursive: true });
  const specs = Object.entries(wanted).map(([name, spec]) => `${name}@npm:${spec}`);
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', ...specs];
  await run(['npm', ...args], { cwd: folder });
}

/** A folder with `node`, `npm`, `npx` and `pnpm`, to put first in PATH. */
function makeBin(folder, major) {
  const modules = join(folder, 'node_modules');
  const bin = join(folder, `bin-${major}`);
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin);
  const node = join(modules, `node-${major}`, 'bin', 'node');
  symlinkSync(node, join(bin, 'node'));
  const npm = join(modules, `npm-${NPM[major]}`, 'bin');
  const programs = {
    npm: join(npm, 'npm-cli.js'),
    npx: join(npm, 'npx-cli.js'),
    pnpm: join(modules, 'pnpm', 'bin', 'pnpm.cjs'),
  };
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${node}" "${script}" "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

/** @returns for each major version what runs on it: `{ major, version, npm, env }` */
export async function prepareMachines(folder, majors) {
  const wanted = { pnpm: `pnpm@${PNPM}` };
  for (const major of majors) {
    wanted[`node-${major}`] = `node-${platform()}@${NODES[major]}`;
    wanted[`npm-${NPM[major]}`] = `npm@${NPM[major]}`;
  }
  await download(folder, wanted);
  return majors.map((major) => {
    const bin = makeBin(folder, major);
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, NO_COLOR: '1', CI: 'true' };
    return { major, version: NODES[major], npm: NPM[major], env };
  });
}

/** Nothing of this user, and nothing that the package manager which runs the matrix has set. */
export function strangerTo(env, home) {
  const kept = Object.entries(env).filter(([name]) => !/^(?:npm_|pnpm_|devs_|xdg_|init_cwd$)/i.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

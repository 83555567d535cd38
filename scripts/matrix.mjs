// What the packages promise, on every Node.js they promise it for: `pnpm matrix --help`.
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DRIVERS, driverOf, makeCheckout, RELEASE_OF } from './matrix/checkout.mjs';
import { serveRegistry } from './matrix/loopbackRegistry.mjs';
import { NODES, prepareMachines } from './matrix/machines.mjs';
import { packedChecks } from './matrix/packed.mjs';
import { packAll } from './packAll.mjs';
import { run } from './runProgram.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'devs-matrix');

const SUBSET = {
  state: [
    'packages/core/src/db/',
    'packages/core/src/state/',
    'packages/core/test/db/',
    'packages/core/test/state/',
  ],
  saver: ['packages/core/src/engine/saver/', 'packages/core/test/conformance/'],
  drive: ['packages/core/src/engine/drive/', 'packages/core/test/drive/'],
  crash: ['packages/core/test/crash/'],
  demo: ['packages/agents/test/crash/', 'packages/agents/test/slugifyRecording'],
};
/** About the words of the driver that this checkout has. */
const OF_DRIVER_12 = '**/driverFault.test.ts';
const PARTS = [...Object.keys(SUBSET), 'files', 'packed'];
const STATE_FILES = 'packages/agents/test/statefiles';
/** Kinds whose answers are those of the first release: a run that today's code leaves asks otherwise. */
const OF_FIRST_RELEASE = ['stuck', 'interrupted', 'subgraphStep', 'toolStep'];

const HELP = `Usage: pnpm matrix [--node MAJOR]... [--only PART]...

Runs a part of the tests on Node.js ${Object.values(NODES).join(', ')}, and the packed packages where users are. Exits 1 when
one fails. Needs the npm registry; what it downloads stays in node_modules/.cache.

  --node MAJOR  only this version; may be given several times
  --only PART   ${PARTS.join(', ')}; may be given several times
  --keep        leave the folder of the run where it is, and say where
  --help        this text

  state … demo  tests of these names; better-sqlite3 ${DRIVERS[12]} on Node.js 20, ${DRIVERS[13]} from 22 on
  files         runs that wait, left by each driver, are resumed under the other; needs 20 and a later one
  packed        the packages are packed, installed by npm without scripts from a registry on loopback, and used;
                not on 20, for which they are not published
`;

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: Object.keys(NODES) },
    only: { type: 'string', multiple: true, default: PARTS },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const ended = [];
const seconds = (start) => `${((performance.now() - start) / 1000).toFixed(0)} s`;

/** A check that fails is told, and the others are done all the same. @returns whether it passed */
async function check(machine, name, work) {
  const start = performance.now();
  const label = `Node.js ${machine.version.padEnd(9)}${name}`;
  try {
    await work();
    ended.push(true);
    process.stdout.write(`ok      ${label} (${seconds(start)})\n`);
  } catch (error) {
    ended.push(false);
    process.stdout.write(`FAILED  ${label} (${seconds(start)})\n${error.message}\n`);
  }
  return ended.at(-1);
}

const node = ({ env }, cwd, ...args) => run(['node', ...args], { cwd, env });
const vitest = (machine, cwd, filters) => node(machine, cwd, 'scripts/test.mjs', ...filters);

async function testSubset({ machines, checkouts, parts }) {
  for (const machine of machines) {
    for (const part of parts.filter((name) => name in SUBSET)) {
      const driver = driverOf(machine.major);
      const except = driver === 12 ? [] : ['--exclude', OF_DRIVER_12];
      await check(machine, part, () => vitest(machine, checkouts[driver], [...SUBSET[part], ...except]));
    }
  }
}

/** Each driver leaves a run of every kind of waiting, and each resumes what both have left. */
async function exchangeFiles({ machines, checkouts }) {
  const older = machines.find(({ major }) => driverOf(major) === 12);
  const newer = machines.filter(({ major }) => driverOf(major) === 13);
  if (older === undefined || newer.length === 0) return;
  const make = ['--conditions=@devs/source', '--import', 'tsx', `${STATE_FILES}/make.ts`];
  const names = readdirSync(join(root, STATE_FILES, 'kinds')).map((name) => parse(name).name);
  const kinds = names.filter((name) => !OF_FIRST_RELEASE.includes(name));
  const leave = (machine, driver) =>
    check(machine, `runs that wait are left by ${DRIVERS[driver]}`, () =>
      node(machine, checkouts[driver], ...make, RELEASE_OF[driver], ...kinds),
    );
  const filters = [STATE_FILES, '-t', `driver-1[23] that waits as "(?:${kinds.join('|')})"`];
  const resume = (machine, driver) =>
    check(machine, `those of both drivers are resumed under ${DRIVERS[driver]}`, () =>
      vitest(machine, checkouts[driver], filters),
    );
  const carry = (driver, to) => {
    const archives = join(STATE_FILES, 'archives', RELEASE_OF[driver]);
    cpSync(join(checkouts[driver], archives), join(checkouts[to], archives), { recursive: true });
  };
  if (!(await leave(older, 12)) || !(await leave(newer[0], 13))) return;
  carry(12, 13);
  carry(13, 12);
  await resume(older, 12);
  for (const machine of newer) await resume(machine, 13);
}

async function build(machine, checkout) {
  await node(machine, checkout, 'node_modules/typescript/bin/tsc', '-b', 'tsconfig.build.json');
  for (const name of ['copy-assets', 'bundle-core', 'bundle-cli'])
    await node(machine, checkout, `scripts/${name}.mjs`);
}

async function sandboxFlags(machine, checkout) {
  const code = `import { sandboxFlags } from './scripts/sandboxFlags.mjs'; console.log(...await sandboxFlags());`;
  const flags = await node(machine, checkout, '--input-type=module', '-e', code);
  return flags.split(/\s+/).filter((flag) => flag !== '');
}

async function usePacked({ machines, checkouts, folder }) {
  const able = machines.filter(({ major }) => driverOf(major) === 13);
  if (able.length === 0) return;
  const [machine] = able;
  const checkout = checkouts[13];
  await build(machine, checkout);
  const sandbox = await sandboxFlags(machine, checkout);
  const tarballs = await packAll({ checkout, env: machine.env, to: join(folder, 'tarballs') });
  const upstream = await run(['npm', 'config', 'get', 'registry'], { cwd: folder });
  const { url, close } = await serveRegistry(Object.values(tarballs), upstream.trim());
  try {
    for (const each of able) {
      const at = join(folder, `packed-${each.major}`);
      for (const [name, work] of packedChecks({
        machine: each,
        folder: at,
        registry: url,
        root: checkout,
        sandbox,
      })) {
        await check(each, name, work);
      }
    }
  } finally {
    close();
  }
}

/** For each driver one copy of this checkout, which all its machines share. */
async function makeCheckouts(machines, folder) {
  const checkouts = {};
  for (const machine of machines) {
    const driver = driverOf(machine.major);
    checkouts[driver] ??= await makeCheckout({ root, folder, driver, machine });
  }
  return checkouts;
}

function assertKnown(name, given, known) {
  const unknown = given.filter((each) => !known.includes(each));
  if (unknown.length === 0) return;
  process.stderr.write(`--${name}: there is no ${unknown.join(', ')}; there are ${known.join(', ')}\n`);
  process.exit(2);
}

async function main({ node: majors, only: parts, keep }) {
  assertKnown('node', majors, Object.keys(NODES));
  assertKnown('only', parts, PARTS);
  const machines = await prepareMachines(cache, majors.map(Number));
  const folder = mkdtempSync(join(tmpdir(), 'devs-matrix-'));
  try {
    const given = { machines, parts, folder, checkouts: await makeCheckouts(machines, folder) };
    await testSubset(given);
    if (parts.includes('files')) await exchangeFiles(given);
    if (parts.includes('packed')) await usePacked(given);
  } finally {
    if (keep) process.stdout.write(`kept: ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  }
  const passed = ended.filter((ok) => ok).length;
  process.stdout.write(`${passed} passed, ${ended.length - passed} failed, 0 skipped\n`);
  return passed > 0 && passed === ended.length ? 0 : 1;
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await main(values);

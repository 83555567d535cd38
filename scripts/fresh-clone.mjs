// What the README's two commands, and those that the specifications tell to type, take from a fresh clone on a machine that
// has nothing: `pnpm bench:fresh --help`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readLedger, typedCommands } from './ledger.mjs';
import { NODES, prepareMachines, strangerTo } from './matrix/machines.mjs';
import { run } from './runProgram.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'devs-matrix');
const COMMANDS = {
  demo: () => ['npx --yes pnpm@10.34.9 demo'],
  test: () => ['npx --yes pnpm@10.34.9 test'],
  typed: () => [
    'npx --yes pnpm@10.34.9 install',
    ...typedCommands(readLedger()).map(({ command }) => command),
  ],
};
const USUAL = ['demo', 'test'];

const HELP = `Usage: pnpm bench:fresh [--node MAJOR]... [--only COMMAND]...

Clones the last commit, and runs the README's commands there: home is empty, git knows nobody, nothing is cached for the
first, the second finds what the first has downloaded. Prints what each took; exits 1 when one does not exit 0.
\`typed\` installs, and runs every command that the specifications tell to type, in the root, as they have it.

  --node MAJOR    ${Object.keys(NODES).join(', ')}; 20 and 24 unless told
  --only COMMAND  ${Object.keys(COMMANDS).join(', ')}; ${USUAL.join(' and ')} unless told
  --help          this text
`;

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: ['20', '24'] },
    only: { type: 'string', multiple: true, default: USUAL },
    help: { type: 'boolean', default: false },
  },
});

/** @returns its exit code, or the signal that ended it */
function end(command, options) {
  const child = spawn('bash', ['-c', command], { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(signal ?? code));
  });
}

async function onMachine(machine, folder, commands) {
  const [home, clone, temporary] = ['home', 'clone', 'tmp'].map((name) =>
    join(folder, `${name}-${machine.major}`),
  );
  for (const each of [home, temporary]) mkdirSync(each);
  await run(['git', 'clone', '--quiet', '--no-local', root, clone], { cwd: folder });
  const env = strangerTo(machine.env, home);
  const lines = [];
  for (const command of commands.flatMap((name) => COMMANDS[name]())) {
    const start = performance.now();
    // A file in /tmp would be another user's, or another run's.
    const code = await end(command.replaceAll('/tmp/', `${temporary}/`), { cwd: clone, env });
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    lines.push({
      ok: code === 0,
      text: `Node.js ${machine.version}  exit ${code}  ${seconds.padStart(4)} s  ${command}`,
    });
  }
  return lines;
}

async function main({ node, only }) {
  const machines = await prepareMachines(cache, node.map(Number));
  const folder = mkdtempSync(join(tmpdir(), 'devs-fresh-'));
  const lines = [];
  try {
    for (const machine of machines) lines.push(...(await onMachine(machine, folder, only)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(`\n${lines.map(({ text }) => `${text}\n`).join('')}`);
  return lines.every(({ ok }) => ok) ? 0 : 1;
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = await main(values);

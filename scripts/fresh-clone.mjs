// What the README's two commands take from a fresh clone on a machine that has nothing: `pnpm bench:fresh --help`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NODES, prepareMachines, strangerTo } from './matrix/machines.mjs';
import { run } from './runProgram.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules', '.cache', 'devs-matrix');
const COMMANDS = { demo: ['--yes', 'pnpm@10.34.9', 'demo'], test: ['--yes', 'pnpm@10.34.9', 'test'] };

const HELP = `Usage: pnpm bench:fresh [--node MAJOR]... [--only COMMAND]...

Clones the last commit, and runs the README's commands there: home is empty, git knows nobody, nothing is cached for the
first, the second finds what the first has downloaded. Prints what each took; exits 1 when one does not exit 0.

  --node MAJOR    ${Object.keys(NODES).join(', ')}; 20 and 24 unless told
  --only COMMAND  ${Object.keys(COMMANDS).join(', ')}
  --help          this text
`;

const { values } = parseArgs({
  options: {
    node: { type: 'string', multiple: true, default: ['20', '24'] },
    only: { type: 'string', multiple: true, default: Object.keys(COMMANDS) },
    help: { type: 'boolean', default: false },
  },
});

/** @returns its exit code, or the signal that ended it */
function end(args, options) {
  const child = spawn('npx', args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(signal ?? code));
  });
}

async function onMachine(machine, folder, commands) {
  const [home, clone] = ['home', 'clone'].map((name) => join(folder, `${name}-${machine.major}`));
  mkdirSync(home);
  await run(['git', 'clone', '--quiet', '--no-local', root, clone], { cwd: folder });
  const env = strangerTo(machine.env, home);
  const lines = [];
  for (const command of commands) {
    const start = performance.now();
    const code = await end(COMMANDS[command], { cwd: clone, env });
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    lines.push({
      ok: code === 0,
      text: `Node.js ${machine.version}  ${command}  exit ${code}  ${seconds} s`,
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

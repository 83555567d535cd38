// What the README's two commands, and those that the specifications tell to type, take from a fresh clone on a machine that
// has nothing: `pnpm bench:fresh --help`.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
first, the second finds what the first has downloaded. Prints what each took by the clock and of processor time, and each
program that it started through pnpm; exits 1 when one does not exit 0.
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

/**
 * The shell of pnpm's scripts, which notes in a file what each command of a line took: by the clock, of a user's and of the
 * system's processor time, and the command. An install script of a package is such a line, too.
 */
const SHELL = `#!/usr/bin/env bash
[ "$1" = -c ] || exec bash "$@"
words=$2
while [ -n "$words" ]; do
  part=\${words%%" && "*}
  case $words in *" && "*) words=\${words#*" && "} ;; *) words= ;; esac
  TIMEFORMAT="%R %U %S $part"
  { time bash -c "$part" 2>&3; } 3>&2 2>>"$DEVS_FRESH_TIMES" || exit
done
`;

/** A line of such a file; of processor time, the user's and the system's together. */
function timeOf(line) {
  const [clock, user, system, ...command] = line.split(' ');
  return { clock: Number(clock), processor: Number(user) + Number(system), command: command.join(' ') };
}

const render = ({ clock, processor, command }) =>
  `${clock.toFixed(1).padStart(6)} s  ${processor.toFixed(1).padStart(6)} s of processor  ${command}`;

/** @returns its exit code, or the signal that ended it */
function end(command, options) {
  const child = spawn('bash', ['-c', command], { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(signal ?? code));
  });
}

/** Runs a command. @returns whether it exits 0, and the lines about it: its own, and one for each part */
async function timed(command, { cwd, env, folder }) {
  const [shell, whole, parts] = ['shell', 'whole', 'parts'].map((name) => join(folder, name));
  for (const file of [whole, parts]) rmSync(file, { force: true });
  writeFileSync(shell, SHELL);
  chmodSync(shell, 0o755);
  const asPnpm = { ...env, npm_config_script_shell: shell, DEVS_FRESH_TIMES: parts };
  const line = `TIMEFORMAT='%R %U %S '; { time { ${command}\n} 2>&3; } 3>&2 2>${whole}`;
  const code = await end(line, { cwd, env: asPnpm });
  const took = { ...timeOf(readFileSync(whole, 'utf8').trim()), command };
  const lines = existsSync(parts) ? readFileSync(parts, 'utf8').trim().split('\n').map(timeOf) : [];
  return {
    ok: code === 0,
    texts: [`exit ${code}  ${render(took)}`, ...lines.map((part) => `        ${render(part)}`)],
  };
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
    // A file in /tmp would be another user's, or another run's.
    const typed = command.replaceAll('/tmp/', `${temporary}/`);
    const { ok, texts } = await timed(typed, { cwd: clone, env, folder });
    lines.push({ ok, text: texts.map((text) => `Node.js ${machine.version}  ${text}`).join('\n') });
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

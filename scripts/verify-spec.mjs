// Proves the specification ledger: named files exist, named tests occur in their files, and each distinct
// command runs and ends with 0. `--no-commands` checks only the names.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, readLedger, root } from './ledger.mjs';

/** pnpm itself may not be installed: it came with npx then. */
const hasPnpm = spawnSync('pnpm', ['--version'], { stdio: 'ignore' }).status === 0;
const runnable = (command) =>
  hasPnpm ? command : command.replace(/^pnpm /, 'npx --yes pnpm@10.34.9 --silent ');

function missingNames({ id, file, testFile, test }) {
  const files = testFile === undefined ? [file] : [file, testFile];
  const missing = files
    .filter((path) => !existsSync(join(root, path)))
    .map((path) => `${id}: no file ${path}`);
  if (test === undefined || missing.length > 0) return missing;
  const source = readFileSync(join(root, testFile), 'utf8');
  const found = [...`'"\``].some((quote) => source.includes(quote + test));
  return found ? [] : [`${id}: no test “${test}” in ${testFile}`];
}

function run(command, ids) {
  const start = performance.now();
  // Commands are proved as a user types them: without the npm settings that this process inherited.
  const { npm_config_json: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', runnable(command)], {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok' : 'FAILED'} (${seconds} s) ${command}  [${ids.join(', ')}]\n`);
  if (status !== 0) process.stderr.write(`${stdout}${stderr}`);
  return status === 0;
}

/** Each distinct command with the entries that name it; those in `first` prepare the others. */
function commandsOf({ first, ...ledger }) {
  const commands = new Map(first.map((command) => [command, []]));
  for (const { id, command } of entriesOf(ledger)) {
    if (command !== undefined) commands.set(command, [...(commands.get(command) ?? []), id]);
  }
  return [...commands];
}

const ledger = readLedger();
const built = entriesOf(ledger).filter(({ verdict }) => verdict !== 'planned');
const missing = built.flatMap(missingNames);
for (const complaint of missing) process.stderr.write(`${complaint}\n`);

const commands = process.argv.includes('--no-commands') ? [] : commandsOf(ledger);
const failed = commands.filter(([command, ids]) => !run(command, ids));
const unproved = built.filter(({ test, testFile, command }) => !test && !testFile && !command).length;
process.stdout.write(
  `specification: ${built.length} entries (${unproved} with a file as their only proof), ` +
    `${missing.length} names missing, ${commands.length} commands, ${failed.length} failed\n`,
);
process.exitCode = missing.length + failed.length === 0 ? 0 : 1;

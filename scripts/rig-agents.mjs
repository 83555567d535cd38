// Installs coding CLIs into a temporary folder and runs each as a run would, against a model on loopback.
//
//   pnpm rig:agents                 all of them
//   pnpm rig:agents claude gemini   some of: claude codex gemini opencode aider
//   pnpm rig:agents --dir FOLDER    keeps what was installed there, and uses it again
//
// Exit code 1 when one that could be installed fails, 75 when none could be installed.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CODING_CLIS } from '../packages/agents/test/clis/codingClis.ts';
import { installCli } from '../packages/agents/test/clis/installCli.ts';
import { proveCli } from '../packages/agents/test/clis/proveCli.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { dir: { type: 'string' } } });
const known = CODING_CLIS.map(({ name }) => name);
const unknown = positionals.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`There is no ${JSON.stringify(unknown)}; there are ${known.join(', ')}.`);
  process.exit(2);
}
const wanted = CODING_CLIS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const root = values.dir === undefined ? mkdtempSync(join(tmpdir(), 'devs-clis-')) : resolve(values.dir);

const missing = [];
let failed = 0;
try {
  for (const cli of wanted) {
    console.log(`${cli.name} (${cli.source.package} ${cli.source.version})`);
    const bin = await installed(cli);
    if (bin !== null) failed += report(await proveCli(cli, bin));
  }
} finally {
  if (values.dir === undefined) rmSync(root, { recursive: true, force: true, maxRetries: 3 });
}
if (missing.length > 0) console.log(`Not run, because they could not be installed: ${missing.join(', ')}.`);
if (failed > 0) process.exitCode = 1;
else if (missing.length === wanted.length) process.exitCode = 75;

async function installed(cli) {
  const dir = join(root, cli.name);
  mkdirSync(dir, { recursive: true });
  try {
    return await installCli(cli, dir);
  } catch (error) {
    missing.push(cli.name);
    console.log(
      `      not installed: ${String(error.stderr ?? error.message)
        .trim()
        .split('\n')
        .at(-1)}\n`,
    );
    return null;
  }
}

function report({ trials, elsewhere }) {
  for (const { passed, what, found, seconds } of trials)
    console.log(`${passed ? 'ok  ' : 'FAIL'}  ${what}, ${seconds.toFixed(1)} s: ${found}`);
  console.log(`      asked for elsewhere: ${elsewhere.join(', ') || 'nothing'}\n`);
  return trials.filter(({ passed }) => !passed).length;
}

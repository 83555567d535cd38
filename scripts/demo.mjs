// The demo: a brief becomes a tested package with one commit per task, in examples/slugify/out.
//
//   node scripts/demo.mjs                    both gates are passed by a declared policy
//   node scripts/demo.mjs --corrupt          one character of the recorded implementation is altered: exits 0 only if
//                                            the run ended red, without a commit; also: --negative-control
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sandboxFlags } from './sandboxFlags.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const example = join(root, 'examples', 'slugify');
const out = join(example, 'out');
const bin = join(root, 'packages', 'cli', 'dist', 'bin.js');

const isCorrupt = ['--corrupt', '--negative-control'].some((flag) => process.argv.includes(flag));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const recording = isCorrupt ? corruptedRecording() : join(example, 'recording.jsonl');
const args = [
  'run',
  join(example, 'brief.md'),
  '--dir',
  out,
  // The folder lies in this repository, and the package is to be made from nothing.
  '--no-repository',
  '--id',
  'slugify',
  '--agents',
  `replay:${recording}`,
  '--yes',
  ...(await sandboxFlags()),
];
console.log(`$ devs ${args.map((arg) => arg.replace(`${root}`, '')).join(' ')}\n`);
const { status } = spawnSync(process.execPath, [bin, ...args], { stdio: 'inherit' });
const commits = commitsIn(join(out, '.devs-work', 'slugify'));

if (isCorrupt) reportCorrupted();
else if (status === 0)
  console.log(
    `\nLook at it:  cd ${join('examples', 'slugify', 'out', '.devs-work', 'slugify')} && git log --stat && npm test`,
  );
process.exitCode = isCorrupt ? Number(!isNoticed()) : (status ?? 1);

function reportCorrupted() {
  const ended = `The run ended with exit code ${status} and ${commits === 0 ? 'no commit' : `${commits} commits`}`;
  const verdict = isNoticed() ? 'PASSED: the tests noticed' : 'FAILED: nobody noticed';
  console.log(`\nOne character of the recorded implementation was altered.\n${ended}.\n${verdict}.`);
}

function isNoticed() {
  return status !== 0 && commits === 0;
}

/** The recording with `===` turned into `!==` in the first task's implementation. */
function corruptedRecording() {
  const lines = readFileSync(join(example, 'recording.jsonl'), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.includes('"step":"implement"'));
  const { response, ...call } = JSON.parse(lines[index]);
  const [file, ...others] = response.files;
  const content = file.content.replace(/'-'/, "'+'");
  if (content === file.content)
    throw new Error('There is no separator to alter in the recorded implementation.');
  lines[index] = JSON.stringify({
    ...call,
    response: { ...response, files: [{ ...file, content }, ...others] },
  });
  const path = join(out, 'corrupted.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}

function commitsIn(workspace) {
  if (!readdirSync(out).includes('.devs-work')) return 0;
  const { stdout } = spawnSync('git', ['-C', workspace, 'rev-list', '--count', 'HEAD'], { encoding: 'utf8' });
  return Number(stdout) || 0;
}

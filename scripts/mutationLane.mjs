// One lane of `verify-spec --mutate`: a process that spoils its copy of the source, one mutation after the other, and
// says how each was noticed. Vitest stays up between them, which saves most of the time.
//
//   in    { rows: [{ entry, mutation }] }      rows of one test file
//   out   { id, outcome, why }                  killed, survived, or broken: nothing can be told; for each row
//   out   { done: true }                        behind the last one
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { runnable } from './ledger.mjs';
import { proofOf } from './mutations.mjs';
import { firstLine, verdictOf } from './mutationVerdict.mjs';
import { whileMutated } from './sourceCopy.mjs';

const copy = process.argv[2];
/** As it was before Vitest's setup gave this process the empty home of a test. */
const environment = { ...process.env };
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

let server;
const vitest = () => (server ??= startVitest());

async function startVitest() {
  const instance = await createVitest('test', { root: copy, watch: false, reporters: [{}] });
  // All of them once, or later only the files of the first look are known.
  await instance.globTestSpecifications();
  return instance;
}

function titlesOf(test) {
  const titles = [];
  for (let node = test; node.type !== 'module'; node = node.parent) titles.push(node.name);
  return titles;
}

/** Runs the tests of a file, or those of these titles alone. */
async function runTests(testFile, titles) {
  const instance = await vitest();
  if (titles.includes(undefined)) instance.resetGlobalTestNamePattern();
  else instance.setGlobalTestNamePattern(new RegExp(titles.map(escaped).join('|')));
  const path = join(copy, testFile);
  const { testModules } = await instance.runTestSpecifications(instance.getModuleSpecifications(path));
  // Vitest returns what ran before, too.
  const own = testModules.filter(({ moduleId }) => moduleId === path);
  return own.map((module) => ({
    errors: module.errors().map(({ message }) => message),
    tests: [...module.children.allTests()].map((test) => ({ titles: titlesOf(test), ...test.result() })),
  }));
}

function runCommand(command) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', runnable(command)], {
      cwd: copy,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: `${output}\nexit ${code}\n` }));
  });
}

async function judgeCommand({ command }, { says, built }) {
  if (built) {
    const build = await runCommand('npm run build');
    if (build.code !== 0) return { outcome: 'broken', why: `the build failed: ${firstLine(build.output)}` };
  }
  const { code, output } = await runCommand(command);
  if (code === 0) return { outcome: 'survived', why: 'exit 0' };
  if (output.includes(says)) return { outcome: 'killed', why: `exit ${code}, says “${says}”` };
  return { outcome: 'broken', why: `exit ${code}, does not say “${says}”: ${output.slice(-400)}` };
}

function judgeQuote({ file, quote }) {
  const isThere = readFileSync(join(copy, file), 'utf8').includes(quote);
  return isThere ? { outcome: 'survived', why: 'still quoted' } : { outcome: 'killed', why: 'quote is gone' };
}

async function judgeRow({ entry, mutation }) {
  const proof = proofOf(entry, mutation);
  if (proof === 'command') return judgeCommand(entry, mutation);
  if (proof === 'quote') return judgeQuote(entry);
  return verdictOf(entry, await runTests(entry.testFile, [entry.test]));
}

function runMutated(row) {
  const onChange = async (path) => (await server)?.invalidateFile(path);
  const { mutation } = row;
  return whileMutated({ copy, mutation, env: process.env, onChange }, () => judgeRow(row));
}

/** Rows whose test is red in the source as it is: a mutation of theirs would show nothing. */
async function redBefore(rows) {
  const tested = rows.filter(({ entry, mutation }) => proofOf(entry, mutation) === 'test');
  if (tested.length === 0) return new Map();
  const modules = await runTests(
    tested[0].entry.testFile,
    tested.map(({ entry }) => entry.test),
  );
  const verdicts = tested.map(({ entry }) => [entry.id, verdictOf(entry, modules)]);
  return new Map(verdicts.filter(([, { outcome }]) => outcome !== 'survived'));
}

async function runRows(rows) {
  const red = await redBefore(rows);
  for (const row of rows) {
    const { id } = row.entry;
    const before = red.get(id);
    const verdict =
      before === undefined
        ? await runMutated(row)
        : { outcome: 'broken', why: `red without it: ${before.why}` };
    process.send({ id, ...verdict });
  }
  process.send({ done: true });
}

process.on('message', ({ rows }) => {
  runRows(rows).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  });
});
process.on('disconnect', () => process.exit(1));

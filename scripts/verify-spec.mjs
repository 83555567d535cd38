// Proves the specification ledger: named files, tests and quoted words exist, each distinct command runs once and
// ends with 0, and the report of the whole suite, which is one of the commands, shows every named test as passed.
// `--no-commands` checks only what needs no run; `--mutate` asks whether each proof would notice that its row is false.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { entriesOf, isBuilt, isTested, readLedger, root, runnable } from './ledger.mjs';

const read = (path) => readFileSync(join(root, path), 'utf8');

/** String literals of a test file; `test.each` fills the placeholders of some. */
const LITERAL = /(['"`])((?:\\.|(?!\1)[^\\\n])+)\1/g;
const PLACEHOLDER = /%[sdijoO]|\$[\w.]+/g;
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function holdsTitle(source, title) {
  return [...source.matchAll(LITERAL)].some(([, , raw]) => {
    const literal = raw.replace(/\\(.)/g, '$1');
    if (literal === title) return true;
    const parts = literal.split(PLACEHOLDER);
    return parts.length > 1 && new RegExp(`^${parts.map(escaped).join('.*')}$`, 's').test(title);
  });
}

function missingNames({ id, file, testFile, test, quote }) {
  const files = testFile === undefined ? [file] : [file, testFile];
  const missing = files.filter((path) => !existsSync(join(root, path)));
  if (missing.length > 0) return missing.map((path) => `${id}: no file ${path}`);
  return [
    ...(test === undefined || holdsTitle(read(testFile), test)
      ? []
      : [`${id}: no test “${test}” in ${testFile}`]),
    ...(quote === undefined || read(file).includes(quote) ? [] : [`${id}: ${file} does not say “${quote}”`]),
  ];
}

function run(command, ids) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync('bash', ['-c', runnable(command)], {
    cwd: root,
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

/** What the report of the whole suite says about the tests that entries name. */
function untrueInReport(entries, report) {
  if (!existsSync(join(root, report))) return [`${report}: the run of the whole suite left no report`];
  const { testResults } = JSON.parse(read(report));
  return entries.filter(isTested).flatMap(({ id, testFile, test, count = 1 }) => {
    const ran = testResults
      .filter(({ name }) => name.replaceAll('\\', '/').endsWith(`/${testFile}`))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ title, ancestorTitles }) => test === undefined || [...ancestorTitles, title].includes(test));
    const passed = ran.filter(({ status }) => status === 'passed').length;
    if (passed >= count && passed === ran.length) return [];
    return [
      `${id}: ${testFile}: ${test ?? 'all'}: ${passed} of ${ran.length} passed, expected ${count} or more`,
    ];
  });
}

function prove(ledger, withCommands) {
  const built = entriesOf(ledger).filter(isBuilt);
  const complaints = built.flatMap(missingNames);

  const commands = withCommands ? commandsOf(ledger) : [];
  if (commands.length > 0) rmSync(join(root, ledger.report), { force: true });
  const failed = commands.filter(([command, ids]) => !run(command, ids));
  if (commands.length > 0) complaints.push(...untrueInReport(built, ledger.report));

  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  process.stdout.write(
    `specification: ${built.length} entries, ${built.filter(isTested).length} shown by tests, ` +
      `${complaints.length} complaints, ${commands.length} commands, ${failed.length} failed\n`,
  );
  return complaints.length + failed.length === 0;
}

const say = (line) => process.stderr.write(line);

/** The rows that the options name; `[]` for all of them, `null` for none. */
async function chosenRows(ledger, { only, touched, base, draw, 'at-most': atMost }) {
  if (!touched && draw === undefined) return only;
  if (only.length > 0) throw new TypeError('--only names the rows: --touched and --draw choose them.');
  const { BASE, changesOf, chooseRows } = await import('./mutationChoice.mjs');
  const { readMutations } = await import('./mutations.mjs');
  const changes = changesOf(base ?? process.env[BASE]);
  const numbers = { draw: numberOf('draw', draw ?? '0'), atMost: numberOf('at-most', atMost) };
  const files = touched ? changes.files : [];
  const mutations = touched ? changes.mutations : {};
  const { rows } = readMutations(ledger);
  const chosen = chooseRows(rows, { ...changes, files, mutations }, numbers);
  const since = touched
    ? `, of ${chosen.touched.length + chosen.left.length} touched since ${changes.base.slice(0, 12)}`
    : '';
  say(
    `${chosen.touched.length + chosen.drawn.length} rows${since}; drawn: ${chosen.drawn.join(', ') || 'none'}\n`,
  );
  if (chosen.left.length > 0) say(`touched and not run, more than ${atMost}: ${chosen.left.join(', ')}\n`);
  const ids = [...chosen.touched, ...chosen.drawn];
  return ids.length === 0 ? null : ids;
}

function numberOf(option, text) {
  if (!/^\d{1,3}$/.test(text)) throw new TypeError(`--${option} is a number, not “${text}”.`);
  return Number(text);
}

/** With `--json` the result alone is on stdout; how it goes is on stderr either way. */
async function proveByMutation(ledger, { resume, json, ...options }) {
  // Loaded here, because the plain proof needs none of it.
  const { mutateSpec } = await import('./mutateSpec.mjs');
  const only = await chosenRows(ledger, options);
  if (only === null) return true;
  const result = await mutateSpec(ledger, { only, resume, say });
  const { ok, killed, survived, broken, notMutable, complaints } = result;
  const counts =
    `mutations: ${killed.length} killed, ${survived.length} survived, ${broken.length} broken, ` +
    `${Object.keys(notMutable).length} rows not mutable, ${complaints.length} complaints\n`;
  for (const { id, text } of complaints) process.stderr.write(`${id}: ${text}\n`);
  process.stdout.write(json ? `${JSON.stringify(result, null, 2)}\n` : counts);
  return ok;
}

const HELP = `Usage: pnpm verify:spec [--no-commands]
       pnpm verify:spec --mutate [--only ID]... [--resume] [--json]
       pnpm verify:spec --mutate [--touched [--base REF]] [--draw N] [--at-most N]

Proves docs/internals/specification-ledger.md: every file, test and quote is there, every command ends with 0.

  --no-commands  only what needs no run
  --mutate       makes each row false, one at a time, in a copy of the source, by the change that
                 docs/specification-mutations.json records, and wants the row's test to turn red
  --only ID      only this row; may be given several times
  --touched      only the rows whose files or mutation have changed, committed or not, since the
                 branch left origin/main; on main itself, since the commit a day older than the last one
  --base REF     since this commit; DEVS_MUTATION_BASE says the same
  --draw N       N rows more, drawn from the others: the same for the same commit
  --at-most N    touched and drawn ones together, 24 by default; those left are named
  --resume       leaves out the rows that were killed before and whose files are the same since
  --json         the result as JSON
`;

async function main() {
  const { values: given } = parseArgs({
    options: {
      'no-commands': { type: 'boolean', default: false },
      mutate: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      touched: { type: 'boolean', default: false },
      base: { type: 'string' },
      draw: { type: 'string' },
      'at-most': { type: 'string', default: '24' },
      resume: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (given.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const ledger = readLedger();
  const ok = given.mutate ? await proveByMutation(ledger, given) : prove(ledger, !given['no-commands']);
  return ok ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

// The specification ledger: reading and checking its data. build-ledger.mjs prints it, verify-spec.mjs proves it.
//
// An entry says what a specification asks for (`text`), where it is (`file`), and what shows it, at least one of
//   testFile + test    a test, or a group of tests, by its title
//   testFile + count   at least so many tests, in that group or in the whole file
//   quote              words that `file` holds to the letter
//   command            ends with 0; `typed` when the specification itself has it to the letter: `short`, or `long` for what
//                      takes the whole suite, a build or a whole type check
// and a verdict; whatever is not `met` gives its reason.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const TYPED = ['short', 'long'];
export const VERDICTS = ['met', 'deviates', 'planned'];

export const isBuilt = ({ verdict }) => verdict !== 'planned';
export const isTested = ({ test, count }) => test !== undefined || count !== undefined;
/** pnpm itself may not be installed: it came with npx then. */
const hasPnpm = () => spawnSync('pnpm', ['--version'], { stdio: 'ignore' }).status === 0;
export const runnable = (command) =>
  hasPnpm() ? command : command.replace(/^pnpm /, 'npx --yes pnpm@10.34.9 --silent ');

export const entriesOf = (ledger) => ledger.specifications.flatMap(({ entries }) => entries);

/** What the specifications tell to type in the root, as `{ command, typed }`, each once; what prepares others is first. */
export function typedCommands(ledger) {
  const rows = entriesOf(ledger).filter(({ typed }) => typed !== undefined);
  const isFirst = ({ command }) => ledger.first.includes(command);
  const ordered = [...rows.filter(isFirst), ...rows.filter((row) => !isFirst(row))];
  const commands = new Map(ordered.map(({ command, typed }) => [command, { command, typed }]));
  return [...commands.values()];
}

function complaintsAbout(entry, ids) {
  const complaints = [];
  if (ids.has(entry.id)) complaints.push('its id is used twice');
  if (!VERDICTS.includes(entry.verdict)) complaints.push(`unknown verdict ${entry.verdict}`);
  if (entry.verdict !== 'met' && !entry.reason) complaints.push(`${entry.verdict}, but no reason is given`);
  if (!entry.text || !entry.file) complaints.push('text or file is missing');
  if (entry.typed !== undefined && (entry.command === undefined || !TYPED.includes(entry.typed)))
    complaints.push(`typed is of a command, and one of ${TYPED.join(', ')}`);
  if (isTested(entry) !== (entry.testFile !== undefined))
    complaints.push('a test needs its file, and a file a test');
  const isProved = isTested(entry) || entry.quote !== undefined || entry.command !== undefined;
  if (isBuilt(entry) && !isProved) complaints.push('nothing shows it: no test, quote or command');
  ids.add(entry.id);
  return complaints.map((complaint) => `${entry.id}: ${complaint}`);
}

/** The ledger's data, or an error that lists everything wrong with it. */
export function readLedger() {
  const ledger = JSON.parse(readFileSync(join(root, 'docs', 'specification-ledger.json'), 'utf8'));
  const ids = new Set();
  const complaints = entriesOf(ledger).flatMap((entry) => complaintsAbout(entry, ids));
  if (complaints.length > 0) throw new Error(`specification-ledger.json:\n${complaints.join('\n')}`);
  return ledger;
}

// The specification ledger: reading and checking its data. build-ledger.mjs prints it, verify-spec.mjs proves it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const VERDICTS = ['met', 'deviates', 'planned'];

function complaintsAbout(entry, ids) {
  const complaints = [];
  if (ids.has(entry.id)) complaints.push('its id is used twice');
  if (!VERDICTS.includes(entry.verdict)) complaints.push(`unknown verdict ${entry.verdict}`);
  if (entry.verdict !== 'met' && !entry.reason) complaints.push(`${entry.verdict}, but no reason is given`);
  if (!entry.text || !entry.file) complaints.push('text or file is missing');
  if (entry.test && !entry.testFile) complaints.push('names a test without its file');
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

export const entriesOf = (ledger) => ledger.specifications.flatMap(({ entries }) => entries);

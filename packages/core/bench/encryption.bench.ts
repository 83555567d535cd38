// `pnpm bench:encryption [--quick] [--json]`: what a key of the state file costs a super-step, with and without it in turn in one
// process; and what opening a file costs with a text and with bytes. See docs/internals/benchmarks.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../src/db/createDatabase.ts';
import type { EncryptionKey } from '../src/db/encryptionKey.ts';
import { race, ratioOf } from './overhead/race.ts';
import { ENCRYPTED, type Keeper, ownGraph, pipeline, type Subject } from './overhead/subjects.ts';
import { median, round, table } from './state/figures.ts';

const quick = process.argv.includes('--quick');
const rounds = quick ? 5 : 25;
const folder = mkdtempSync(join(tmpdir(), 'devs-bench-'));

const PAIRS = ENCRYPTED.map((keeper) => [keeper, keeper.replace(' encrypted', '') as Keeper] as const);

async function measure(subject: Subject) {
  const lap = await race(subject, { folder, rounds, warmUp: 3, keepers: PAIRS.flat() });
  return PAIRS.map(([encrypted, plain]) => {
    const { median: ratio, ...others } = ratioOf(lap, [encrypted, plain]);
    const stepMs = (keeper: Keeper): number => round(median((lap.get(keeper) ?? []).map(({ ms }) => ms)), 3);
    return {
      subject: subject.name,
      keeper: plain,
      plainMs: stepMs(plain),
      encryptedMs: stepMs(encrypted),
      ratio,
      ...others,
    };
  });
}

/** Milliseconds to open a file that is there, and close it, by what it is opened with. */
function openTimes(): Readonly<Record<string, number>> {
  const keys: Readonly<Record<string, EncryptionKey | undefined>> = {
    'no key': undefined,
    '32 bytes': new Uint8Array(32).fill(7),
    text: 'a passphrase of some length',
  };
  const times = Object.entries(keys).map(([name, encryptionKey]) => {
    const at = { dbPath: join(folder, `${name}.sqlite`), encryptionKey };
    createDatabase(at).close();
    const taken = Array.from({ length: rounds }, () => {
      const begin = performance.now();
      createDatabase(at).close();
      return performance.now() - begin;
    });
    return [name, round(median(taken), 1)] as const;
  });
  return Object.fromEntries(times);
}

const results = [...(await measure(pipeline(50))), ...(await measure(ownGraph(100)))];
const open = openTimes();
rmSync(folder, { recursive: true });

const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
if (process.argv.includes('--json')) console.log(JSON.stringify({ machine, quick, rounds, results, open }));
else {
  const rows = results.map((it) => [
    ...[it.subject, it.keeper, it.plainMs, it.encryptedMs, it.ratio],
    ...[`${it.quarter}–${it.threeQuarters}`, it.cpu],
  ]);
  const head = [
    '',
    'kept by',
    'ms per super-step',
    'with a key',
    'median ratio',
    'middle half',
    'of processor',
  ];
  console.log(table(head, rows));
  console.log(`\n${table(['opened with', 'ms'], Object.entries(open))}`);
  console.log(`\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${rounds} rounds`);
}

// What the maskers find, what they wrongly change, and how fast they are. Prints Markdown; the figures are in
// docs/security.md and docs/benchmarks.md. `--quick` times fewer of the adversarial texts, `--misses` lists what leaks and
// what is changed wrongly. Times are of the processor, so that other work on the machine counts little.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { maskPrecise, maskPreciseDeep } from '../src/masking/maskPrecise.ts';
import { maskSensitiveData } from '../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../src/masking/SecretRegistry.ts';
import { createStreamMasker } from '../src/masking/streamMasker.ts';
import { ADVERSARIAL } from '../test/masking/adversarial.ts';
import { CLEAN_TEXTS } from '../test/masking/corpus/cleanTexts.ts';
import type { FamilyKind } from '../test/masking/corpus/Family.ts';
import { HELD_OUT, TUNING } from '../test/masking/corpus/families.ts';
import { HELD_OUT_FAMILIES, heldOutAlarms, heldOutRecall } from '../test/masking/corpus/heldOutSet.ts';
import { falseAlarmsOf, type Mask, recallOf } from '../test/masking/corpus/measure.ts';
import { HARMLESS } from '../test/masking-heldout/harmless.ts';
import { SHAPES } from '../test/masking-heldout/shapes.ts';

const MEGABYTE = 1_000_000;
const isQuick = process.argv.includes('--quick');

const fresh = (): SecretRegistry => new SecretRegistry();
const precise: Mask = (text) => maskPrecise(text, fresh()).value;
const broad: Mask = (text) => maskSensitiveData(text, fresh());

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

function printRecall(): void {
  const kinds: readonly (readonly [string, readonly FamilyKind[]])[] = [
    ['token shapes', ['shape']],
    ['key blocks, URLs, connection strings', ['place']],
    ['values after a name', ['name']],
    ['all', ['shape', 'place', 'name']],
  ];
  console.log(row('families', 'precise, tuning', 'precise, held-out', 'broad, tuning', 'broad, held-out'));
  console.log(row('---', '---:', '---:', '---:', '---:'));
  for (const [name, kind] of kinds) {
    const cells = [precise, broad].flatMap((mask) =>
      [TUNING, HELD_OUT].map((families) => {
        const recall = recallOf(mask, families, kind);
        return `${recall.families} of ${recall.of} (${percent(recall.samples, recall.ofSamples)} of samples)`;
      }),
    );
    console.log(row(name, ...cells));
  }
  const alarms = [precise, broad].map((mask) => falseAlarmsOf(mask).length);
  console.log(
    `\nFalse alarms in ${CLEAN_TEXTS.length} clean texts: precise ${alarms[0]}, broad ${alarms[1]}.`,
  );
}

/** The set of `test/masking-heldout`, written by somebody who had not read the rules. */
function printHeldOutSet(): void {
  console.log(`\n${row(`${SHAPES.length} secrets, ${HARMLESS.length} harmless texts`, 'precise', 'broad')}`);
  console.log(row('---', '---:', '---:'));
  const sums = [0, 0];
  for (const family of HELD_OUT_FAMILIES) {
    const cells = [precise, broad].map((mask, index) => {
      const { masked, of } = heldOutRecall(mask, family);
      sums[index] = (sums[index] ?? 0) + masked;
      return `${masked} of ${of} (${percent(masked, of)})`;
    });
    console.log(row(family, ...cells));
  }
  console.log(
    row('all', ...sums.map((sum) => `${sum} of ${SHAPES.length} (${percent(sum, SHAPES.length)})`)),
  );
  const alarms = [precise, broad].map((mask) => heldOutAlarms(mask).length);
  console.log(row('false alarms', ...alarms.map((count) => `${count} (${percent(count, HARMLESS.length)})`)));
}

function printHeldOutMisses(name: string, mask: Mask): void {
  const families = name === 'precise' ? (['own-shape', 'key-block'] as const) : HELD_OUT_FAMILIES;
  const missed = families.flatMap((family) => heldOutRecall(mask, family).misses.map(({ id }) => id));
  const alarms = heldOutAlarms(mask).map(({ id }) => id);
  console.log(
    `\nOf the held-out set, ${name}: missed ${missed.join(', ') || 'none'}; changed wrongly ${alarms.join(', ') || 'none'}.`,
  );
}

function printMisses(): void {
  for (const [name, mask] of Object.entries({ precise, broad })) {
    const { misses } = recallOf(mask, HELD_OUT, name === 'precise' ? ['shape', 'place'] : undefined);
    console.log(
      `\nHeld-out families with a leak, ${name}: ${misses.map(({ family }) => family).join(', ')}.`,
    );
    printHeldOutMisses(name, mask);
  }
}

/** Milliseconds of the processor, the best of three. */
function time(work: () => unknown): number {
  const runs = [0, 1, 2].map(() => {
    const from = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1_000;
  });
  return Math.min(...runs);
}

/** This package's sources and the lockfile: code, prose and hashes. */
function realText(): string {
  const source = new URL('../src/orchestration/', import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const texts = files.map((name) => readFileSync(new URL(name, source), 'utf8'));
  const lockfile = readFileSync(fileURLToPath(new URL('../../../pnpm-lock.yaml', import.meta.url)), 'utf8');
  const text = [...texts, lockfile].join('\n');
  return text.repeat(Math.ceil((2 * MEGABYTE) / text.length)).slice(0, 2 * MEGABYTE);
}

function printSpeed(): void {
  const text = realText();
  const speed = (ms: number): string => `${(text.length / 1_000 / ms).toFixed(0)} MB/s`;
  const stream = (): string => {
    const masker = createStreamMasker({ mask: broad });
    const pieces = text.match(/[\s\S]{1,65536}/g) ?? [];
    return pieces.map((piece) => masker.push(piece)).join('') + masker.end();
  };
  const registry = fresh();
  // As it is in a run: what was masked once holds no secret any more.
  const clean = precise(text);
  const state = { documents: clean.match(/[\s\S]{1,50000}/g), log: clean };
  console.log(`\n${row('speed on code, prose and hashes', '')}`);
  console.log(row('---', '---:'));
  console.log(row('precise', speed(time(() => precise(text)))));
  console.log(row('broad', speed(time(() => broad(text)))));
  console.log(row('broad, as a stream of 64 KiB pieces', speed(time(stream))));
  const first = time(() => maskPreciseDeep(state, fresh()));
  maskPreciseDeep(state, registry);
  const again = time(() => maskPreciseDeep(state, registry));
  let lines = 0;
  const afterGrowth = time(() => {
    lines += 1;
    return maskPreciseDeep({ ...state, log: `${clean}${'one more line\n'.repeat(lines)}` }, registry);
  });
  console.log(row('precise, a state of 4 MB, first time', `${first.toFixed(1)} ms`));
  console.log(row('the same state again', `${again.toFixed(2)} ms`));
  console.log(row('the same state with a line more at the end of 2 MB', `${afterGrowth.toFixed(2)} ms`));
}

/** Every literal of every rule in every shape at 20 KB; the slowest of them at 500 KB and 1 MB. */
function printWorstCases(): void {
  const screened = ADVERSARIAL.map((text) => ({ text, ms: time(() => broad(text.of(20_000))) }));
  const slowest = screened.sort((a, b) => b.ms - a.ms).slice(0, isQuick ? 5 : 40);
  const timed = slowest.map(({ text: { about, of } }) => ({
    about,
    half: time(() => broad(of(MEGABYTE / 2))),
    whole: time(() => broad(of(MEGABYTE))),
  }));
  const worst = timed.sort((a, b) => b.whole - a.whole).slice(0, 5);
  console.log(`\n${row(`worst of ${ADVERSARIAL.length} adversarial texts`, '500 KB', '1 MB', 'ratio')}`);
  console.log(row('---', '---:', '---:', '---:'));
  for (const { about, half, whole } of worst) {
    console.log(
      row(`\`${about}\``, `${half.toFixed(0)} ms`, `${whole.toFixed(0)} ms`, (whole / half).toFixed(1)),
    );
  }
  const ratios = timed.map(({ half, whole }) => whole / half);
  console.log(
    `\nLargest ratio of the ${timed.length} slowest: ${Math.max(...ratios).toFixed(1)} (2 is linear).`,
  );
}

printRecall();
printHeldOutSet();
if (process.argv.includes('--misses')) printMisses();
printSpeed();
printWorstCases();

// What the maskers find, what they wrongly change, and how fast they are. Prints Markdown; the figures are in
// docs/internals/security.md and docs/internals/benchmarks.md. `--quick` times fewer of the adversarial texts, `--misses` lists what leaks and
// what is changed wrongly. Times are of the processor, so that other work on the machine counts little.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inTurns } from '../src/masking/inTurns.ts';
import { LineMasker } from '../src/masking/LineMasker.ts';
import { maskingOf, maskPrecise, maskSensitiveData } from '../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../src/masking/SecretRegistry.ts';
import { scrub } from '../src/masking/scrub.ts';
import { ADVERSARIAL } from '../test/masking/adversarial.ts';
import { CLEAN_TEXTS } from '../test/masking/corpus/cleanTexts.ts';
import type { FamilyKind } from '../test/masking/corpus/Family.ts';
import { HELD_OUT, NEWER, TUNING } from '../test/masking/corpus/families.ts';
import { HELD_OUT_FAMILIES, heldOutAlarms, heldOutRecall } from '../test/masking/corpus/heldOutSet.ts';
import { falseAlarmsOf, type Mask, recallOf } from '../test/masking/corpus/measure.ts';
import { HARMLESS } from '../test/masking-heldout/harmless.ts';
import { SHAPES } from '../test/masking-heldout/shapes.ts';

const MEGABYTE = 1_000_000;
const isQuick = process.argv.includes('--quick');

const fresh = (): SecretRegistry => new SecretRegistry();
const precise: Mask = (text) => maskPrecise(text, fresh()).value;
const broad: Mask = (text) => maskSensitiveData(text, fresh());
const scrubbed: Mask = (text) => scrub(text, fresh()).value;

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

function printRecall(): void {
  const kinds: readonly (readonly [string, readonly FamilyKind[]])[] = [
    ['token shapes', ['shape']],
    ['key blocks, URLs, connection strings', ['place']],
    ['values after a name', ['name']],
    ['all', ['shape', 'place', 'name']],
  ];
  const masks = { scrub: scrubbed, precise, broad };
  const heads = Object.keys(masks).flatMap((name) => [`${name}, tuning`, `${name}, held-out`]);
  console.log(row('families', ...heads));
  console.log(row('---', ...heads.map(() => '---:')));
  for (const [name, kind] of kinds) {
    const cells = Object.values(masks).flatMap((mask) =>
      [TUNING, HELD_OUT].map((families) => {
        const recall = recallOf(mask, families, kind);
        return `${recall.families} of ${recall.of} (${percent(recall.samples, recall.ofSamples)} of samples)`;
      }),
    );
    console.log(row(name, ...cells));
  }
  const newer = [scrubbed, broad].map((mask) => recallOf(mask, NEWER).families);
  console.log(
    `\nForms told of since: scrub ${newer[0]} of ${NEWER.length}, broad ${newer[1]} of ${NEWER.length}.`,
  );
  const alarms = Object.entries(masks).map(([name, mask]) => `${name} ${falseAlarmsOf(mask).length}`);
  console.log(`\nFalse alarms in ${CLEAN_TEXTS.length} clean texts: ${alarms.join(', ')}.`);
}

/** The set of `test/masking-heldout`, written by somebody who had not read the rules. */
function printHeldOutSet(): void {
  console.log(
    `\n${row(`${SHAPES.length} secrets, ${HARMLESS.length} harmless texts`, 'scrub', 'precise', 'broad')}`,
  );
  console.log(row('---', '---:', '---:', '---:'));
  const sums = [0, 0, 0];
  for (const family of HELD_OUT_FAMILIES) {
    const cells = [scrubbed, precise, broad].map((mask, index) => {
      const { masked, of } = heldOutRecall(mask, family);
      sums[index] = (sums[index] ?? 0) + masked;
      return `${masked} of ${of} (${percent(masked, of)})`;
    });
    console.log(row(family, ...cells));
  }
  console.log(
    row('all', ...sums.map((sum) => `${sum} of ${SHAPES.length} (${percent(sum, SHAPES.length)})`)),
  );
  const alarms = [scrubbed, precise, broad].map((mask) => heldOutAlarms(mask).length);
  console.log(row('false alarms', ...alarms.map((count) => `${count} (${percent(count, HARMLESS.length)})`)));
}

function printHeldOutMisses(name: string, mask: Mask): void {
  const families = name === 'broad' ? HELD_OUT_FAMILIES : (['own-shape', 'key-block'] as const);
  const missed = families.flatMap((family) => heldOutRecall(mask, family).misses.map(({ id }) => id));
  const alarms = heldOutAlarms(mask).map(({ id }) => id);
  console.log(
    `\nOf the held-out set, ${name}: missed ${missed.join(', ') || 'none'}; changed wrongly ${alarms.join(', ') || 'none'}.`,
  );
}

function printMisses(): void {
  for (const [name, mask] of Object.entries({ scrub: scrubbed, precise, broad })) {
    const { misses } = recallOf(mask, HELD_OUT, name === 'broad' ? undefined : ['shape', 'place']);
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

const fill = (unit: string, size = MEGABYTE): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

/** Texts of a megabyte, unless it says otherwise. */
function kindsOfText(): Readonly<Record<string, string>> {
  const rows = Array.from({ length: 8_000 }, (_, id) => ({
    ...{ id, name: `user ${id}`, at: '2026-01-01T00:00:00Z', note: 'a few words of prose' },
    ...{ sha: randomBytes(20).toString('hex'), tags: ['a', 'b'] },
  }));
  const base64 = randomBytes(MEGABYTE).toString('base64');
  return {
    'code, prose and hashes': realText().slice(0, MEGABYTE),
    'JSON on one line': JSON.stringify(rows).slice(0, MEGABYTE),
    'one character': fill('a'),
    'no spaces': fill('nospaceshere'),
    'words joined by marks': fill('a1B2-_.c/d:'),
    'colours of a terminal': fill('\u001b[32mok\u001b[0m \u001b[1;31mfail\u001b[0m test.ts\n'),
    'codes alone': fill('\u001b[32m\u001b[0m'),
    base64: base64.slice(0, MEGABYTE),
    'base64 in lines': base64.replace(/.{76}/g, '$&\n').slice(0, MEGABYTE),
    hex: randomBytes(MEGABYTE / 2).toString('hex'),
    'hex, 64 MB': randomBytes(32 * MEGABYTE).toString('hex'),
    'percent signs': fill('%3D%2F'),
    'another script': fill('\u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8'),
    'a secret a line, none twice': Array.from(
      { length: Math.ceil(MEGABYTE / 48) },
      () => `token: ghp_${randomBytes(20).toString('hex')}\n`,
    )
      .join('')
      .slice(0, MEGABYTE),
  };
}

/** The longest stretch of processor time in which the event loop did not turn, ms. */
async function longestStretch(text: string): Promise<number> {
  let longest = 0;
  let isOver = false;
  let from = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(from);
    longest = Math.max(longest, (user + system) / 1_000);
    from = process.cpuUsage();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await inTurns(maskingOf(text, fresh()));
  isOver = true;
  return longest;
}

async function printSpeed(): Promise<void> {
  console.log(`\n${row('broad, 1 MB of', 'ms per MB', 'longest stretch without a turn of the loop')}`);
  console.log(row('---', '---:', '---:'));
  for (const [kind, text] of Object.entries(kindsOfText())) {
    const ms = time(() => broad(text)) / (text.length / MEGABYTE);
    const stretches = [await longestStretch(text), await longestStretch(text), await longestStretch(text)];
    console.log(row(kind, ms.toFixed(1), `${Math.min(...stretches).toFixed(1)} ms`));
  }
  const text = realText();
  const speed = (mask: () => unknown): string => `${(time(mask) / (text.length / MEGABYTE)).toFixed(1)}`;
  const stream = (): string => {
    const masker = new LineMasker();
    const pieces = text.match(/[\s\S]{1,65536}/g) ?? [];
    const shown = pieces.map((piece) => {
      masker.push(piece);
      return masker.take();
    });
    return shown.join('') + masker.end();
  };
  console.log(`\n${row('code, prose and hashes', 'ms per MB')}`);
  console.log(row('---', '---:'));
  console.log(
    row(
      'scrub',
      speed(() => scrubbed(text)),
    ),
  );
  console.log(row('broad, line by line, in pieces of 64 KiB', speed(stream)));
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
await printSpeed();
printWorstCases();

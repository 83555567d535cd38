// How well the entropy score tells a stuck agent from a slow one, beside the five classic stuck patterns, and how fast
// it is. Prints Markdown; the figures are in docs/internals/benchmarks.md. `--misses` lists the traces each one misses.

import type { AgentAction } from '../src/engine/entropy/EntropyPart.ts';
import { scoreEntropy } from '../src/engine/entropy/scoreEntropy.ts';
import { CLASSIC_PATTERNS, firstMatch } from '../test/entropy/classicPatterns.ts';
import { classicPatterns, entropyScore } from '../test/entropy/detectors.ts';
import { type Detector, measure } from '../test/entropy/measure.ts';
import { DEV, HELD_OUT } from '../test/entropy/traces/sets.ts';
import type { Trace } from '../test/entropy/traces/Trace.ts';

const showsMisses = process.argv.includes('--misses');

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const detectors: readonly (readonly [string, Detector])[] = [
  ['entropy score ≥ 0.75', entropyScore],
  ['any of the five patterns', classicPatterns],
  ...Object.entries(CLASSIC_PATTERNS).map(([name, pattern]): [string, Detector] => [
    `– ${name}`,
    (turns, polling) => firstMatch([pattern], turns, polling),
  ]),
];

function printSet(name: string, traces: readonly Trace[]): void {
  console.log(`\n${row(name, 'precision', 'recall', 'false trips per 1,000 turns', 'median turns to trip')}`);
  console.log(row('---', '---:', '---:', '---:', '---:'));
  for (const [detector, detect] of detectors) {
    const figures = measure(traces, detect);
    const { precision, recall, falsePer1000, turnsToTrip } = figures;
    const hasTripped = turnsToTrip !== null || figures.falseAlarms.length > 0;
    console.log(
      row(
        detector,
        hasTripped ? precision.toFixed(2) : '–',
        recall.toFixed(2),
        falsePer1000.toFixed(1),
        turnsToTrip ?? '–',
      ),
    );
    if (!showsMisses) continue;
    for (const about of figures.missed) console.log(`  missed: ${about}`);
    for (const about of figures.falseAlarms) console.log(`  false alarm: ${about}`);
  }
}

function printUndeclaredPolling(): void {
  const polling = [...DEV, ...HELD_OUT].filter(({ kind }) => kind === 'polling');
  const undeclared = polling.map((trace): Trace => ({ ...trace, polling: [] }));
  const trips = measure(undeclared, entropyScore).falseAlarms.length;
  console.log(`\nPolling traces that trip when their tool is not declared: ${trips} of ${polling.length}.`);
}

/** Milliseconds, the best of five. */
function time(work: () => unknown): number {
  const runs = Array.from({ length: 5 }, () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return Math.min(...runs);
}

function printTimes(): void {
  const text = (size: number, seed: number): string =>
    Array.from({ length: Math.ceil(size / 8) }, (_, index) => `w${(index * 7919 + seed) % 99_991} `).join('');
  console.log(`\n${row('turns', 'characters each', 'ms')}`);
  console.log(row('---:', '---:', '---:'));
  for (const [count, size] of [
    [20, 4_000],
    [200, 4_000],
    [200, 400_000],
    [20_000, 4_000],
  ] as const) {
    const outputs = Array.from({ length: 50 }, (_, index) => text(size, index));
    const turns = Array.from(
      { length: count },
      (_, index): AgentAction => ({
        action: `call ${index}`,
        tool: 'call',
        output: outputs[index % 50] as string,
      }),
    );
    const ms = time(() => scoreEntropy(turns));
    console.log(row(count.toLocaleString('en'), size.toLocaleString('en'), ms.toFixed(1)));
  }
}

printSet('60 traces it was tuned on', DEV);
printSet('60 held-out traces', HELD_OUT);
printUndeclaredPolling();
printTimes();

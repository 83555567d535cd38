import type { Installation, RunCost } from './costs.ts';
import { histogram } from './counting.ts';
import type { Verdicts } from './judging.ts';

/** All that was found about one stack. */
export interface Findings {
  readonly service: string | null;
  readonly installation: Installation;
  readonly cost: RunCost;
  readonly verdicts: Verdicts;
}

type Row = readonly [label: string, cell: (findings: Findings) => string | number];

/** Where the answering process publishes; elsewhere part of it is taken by others. */
const processor = (ms: number): string => (Number.isNaN(ms) ? '–' : ms.toFixed(0));

function megabytes(bytes: number): string {
  const digits = bytes < 1e6 ? 2 : bytes < 1e7 ? 1 : 0;
  return (bytes / 1e6).toFixed(digits);
}

const ACCIDENTS: readonly Row[] = [
  ['killed in a paid call: times paid', ({ verdicts }) => verdicts.paid['in the call']],
  ['… after its answer, before its step has ended', ({ verdicts }) => verdicts.paid['before its record']],
  ['… after its step has ended', ({ verdicts }) => verdicts.paid['after its record']],
  ['killed in a paid call, then started twice at once: times paid', ({ verdicts }) => verdicts.startedTwice],
  ['killed at random: calls paid again, per kill', ({ verdicts }) => histogram(verdicts.kills.perKill)],
  ['… of these, calls that had been recorded', ({ verdicts }) => verdicts.kills.recordedAgain],
  ['two processes approve one gate at once: times published', ({ verdicts }) => verdicts.atOnce.published],
  ['… answers accepted', ({ verdicts }) => verdicts.atOnce.accepted],
  ['one click sent twice, two gates: answers accepted', ({ verdicts }) => verdicts.twice.accepted],
  ['… times the second gate, which nobody read, let through', ({ verdicts }) => verdicts.twice.announced],
  [
    'version A approved after B replaced it: times B was published',
    ({ verdicts }) => verdicts.stale.published,
  ],
  ['… answers accepted', ({ verdicts }) => verdicts.stale.accepted],
  [
    '… times B was published with the check written by hand',
    ({ verdicts }) => verdicts.bound ?? 'none needed',
  ],
];

const COSTS: readonly Row[] = [
  ['services beside Node.js', ({ service }) => service ?? 'none'],
  ['packages', ({ installation }) => installation.packages],
  ['their size, MB', ({ installation }) => megabytes(installation.bytes)],
  ['processes while a human is awaited', ({ cost }) => cost.waiting],
  ['service ready, ms', ({ service, cost }) => (service === null ? '–' : cost.serviceMs)],
  ['start of a process to the first gate, nothing run before, ms', ({ cost }) => cost.toGateMs],
  ['answer to publication, ms', ({ cost }) => cost.wakeMs],
  ['… of the processor, in one process', ({ cost }) => processor(cost.wakeCpuMs)],
  ['start of the answering process to publication, ms', ({ cost }) => cost.coldWakeMs],
  ['… of the processor, in one process', ({ cost }) => processor(cost.coldWakeCpuMs)],
  [
    'state before the first run, MB',
    ({ service, cost }) => (service === null ? '–' : megabytes(cost.emptyBytes)),
  ],
  ['state after one run, MB', ({ cost }) => megabytes(cost.stateBytes)],
];

function table(rows: readonly Row[], stacks: readonly (readonly [string, Findings])[]): string {
  const head = `| | ${stacks.map(([name]) => name).join(' | ')} |\n| --- |${' ---: |'.repeat(stacks.length)}`;
  const lines = rows.map(([label, cell]) => {
    const cells = stacks.map(([, findings]) => cell(findings));
    return `| ${label} | ${cells.join(' | ')} |`;
  });
  return [head, ...lines].join('\n');
}

/**
 * Markdown: a table of the accidents, one of the costs, what was refused, and what could not be measured.
 *
 * @param missing Why, by name of the stack.
 */
export function render(
  found: Readonly<Record<string, Findings>>,
  missing: Readonly<Record<string, string>>,
): string {
  const stacks = Object.entries(found);
  const refusals = stacks.flatMap(([name, { verdicts }]) =>
    verdicts.refusals.map((refusal) => `${name}: ${refusal}`),
  );
  const reasons = Object.entries(missing).map(([name, reason]) => `${name}: not measured; ${reason}.`);
  const tables = stacks.length > 0 ? [table(ACCIDENTS, stacks), table(COSTS, stacks)] : [];
  return [...tables, refusals.join('\n'), reasons.join('\n')].filter((part) => part !== '').join('\n\n');
}

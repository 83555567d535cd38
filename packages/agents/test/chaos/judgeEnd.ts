import type { Observation } from './Observation.ts';
import type { Outcome } from './subject.ts';

/** A run that has ended: what its last drive returned, and what is left on disk. */
export interface EndedRun {
  readonly outcome: Outcome;
  readonly last: Observation;
  /** What there was at each goal, in words. */
  readonly stops: readonly string[];
}

/** What differs between a killed run and one that nobody killed. */
export function judgeEnd(run: EndedRun, reference: EndedRun): readonly string[] {
  const killed = comparable(run);
  const whole = comparable(reference);
  const differences = Object.keys(whole).filter((part) => killed[part] !== whole[part]);
  const open = run.last.file.steps.filter(({ state }) => state === 'intent');
  return [
    ...differences.map((part) => `${part} differ: ${firstDifference(killed[part] ?? '', whole[part] ?? '')}`),
    ...open.map(({ key }) => `step without result at the end: ${key}`),
  ];
}

/** Everything of a run that must not depend on kills. Attempts, epochs and the number of turns may. */
function comparable({ outcome, last, stops }: EndedRun): Readonly<Record<string, string>> {
  const { file, calls, commits } = last;
  const texts = {
    status: [outcome.status, outcome.reason, file.status],
    values: outcome.values,
    'commit subjects': [outcome.commits, commits.map(({ subject }) => subject)],
    commits: commits.map(({ content, subject }) => [content, subject]),
    trees: outcome.tree,
    stops,
    decisions: file.decisions.length,
    gates: file.sessions.map(({ kind, status }) => `${kind} ${status}`).sort(),
    steps: file.steps.map(({ label, state }) => `${label} ${state}`).sort(),
    calls: new Set(calls).size,
    checkpoints: file.checkpoints.length,
  };
  return Object.fromEntries(Object.entries(texts).map(([part, value]) => [part, withoutTimes(value)]));
}

/** Times, and the commits whose ids are made of them. */
function withoutTimes(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"gitHash":"[0-9a-f]{40}"/g, '"gitHash":"<sha>"');
}

const EXCERPT = 120;

function firstDifference(killed: string, whole: string): string {
  const at = [...whole].findIndex((character, index) => killed[index] !== character);
  const from = Math.max(0, (at < 0 ? whole.length : at) - EXCERPT / 2);
  return `…${killed.slice(from, from + EXCERPT)}… instead of …${whole.slice(from, from + EXCERPT)}…`;
}

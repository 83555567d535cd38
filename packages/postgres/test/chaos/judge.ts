import type { Entry } from './ledger.ts';

/** What a run has in the end. */
export interface Ended {
  readonly run: string;
  readonly status: string;
  /** `name=nonce` of what it has recorded. */
  readonly calls: readonly string[];
}

export interface Verdict {
  readonly begun: number;
  /** Calls that were made once more, as their driver had died or been frozen while they were in flight. */
  readonly again: number;
  readonly violations: readonly string[];
}

type Begun = Extract<Entry, { readonly is: 'begun' }>;

/**
 * Judges by the ledger alone, and by what each run says of itself in the end. Every call of `names` is recorded once in each
 * run; none is made after the one that is recorded; and each that is made before it was in flight when its process was killed,
 * frozen or taken over, so that of one branch at most one is made again for each of these.
 */
export function judge(entries: readonly Entry[], ended: readonly Ended[], names: readonly string[]): Verdict {
  const begun = entries.filter((entry) => entry.is === 'begun');
  const violations = ended.flatMap((run) => lost(run, names));
  let again = 0;
  for (const { run, calls } of ended) {
    for (const name of names) {
      const made = begun.filter((entry) => entry.run === run && entry.name === name);
      again += Math.max(0, made.length - 1);
      const recorded = calls.find((call) => call.startsWith(`${name}=`))?.slice(name.length + 1);
      violations.push(...ofCall(entries, made, recorded));
    }
  }
  return { begun: begun.length, again, violations };
}

function lost({ run, status, calls }: Ended, names: readonly string[]): readonly string[] {
  const found = calls.map((call) => call.slice(0, call.indexOf('='))).sort();
  if (status === 'completed' && found.join() === [...names].sort().join()) return [];
  return [`${run} is ${status} with ${found.join(', ')}`];
}

function ofCall(
  entries: readonly Entry[],
  made: readonly Begun[],
  recorded: string | undefined,
): readonly string[] {
  if (recorded === undefined) return [];
  const at = made.findIndex(({ nonce }) => nonce === recorded);
  if (at === -1) return [`${recorded} is recorded and was never made`];
  return [
    ...made.slice(at + 1).map(({ run, name }) => `${run}: "${name}" was made again, and was recorded`),
    ...made
      .slice(0, at)
      .filter((call) => !wasInFlight(entries, call))
      .map(({ run, name, pid }) => `${run}: "${name}" was made again, and nothing had happened to ${pid}`),
  ];
}

const wasInFlight = (entries: readonly Entry[], call: Begun): boolean =>
  entries
    .slice(entries.indexOf(call))
    .some((entry) => entry.is === 'restarted' || (entry.is !== 'begun' && entry.pid === call.pid));

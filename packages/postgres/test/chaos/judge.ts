import type { Entry } from './ledger.ts';

/** What a run has in the end. */
export interface Ended {
  readonly run: string;
  readonly status: string;
  /** `name=nonce` of what it has recorded. */
  readonly calls: readonly string[];
}

/** What every run is to have recorded. */
export interface Plan {
  readonly names: readonly string[];
  /** Of the calls of one branch, one at a time is in flight. */
  readonly branchOf: (name: string) => string;
}

export interface Verdict {
  readonly begun: number;
  /** Calls that were made once more, as their driver had died or been frozen while they were in flight. */
  readonly again: number;
  /** How often somebody else took up the run of who had been killed or frozen. */
  readonly takenOver: number;
  readonly violations: readonly string[];
}

type Placed = Entry & { readonly nth: number };
type Begun = Extract<Placed, { readonly is: 'begun' }>;
type Drive = Placed & { readonly pid: number };

/**
 * Judges by the ledger alone, and by what each run says of itself in the end. Every call of the plan is recorded once in each
 * run. None is made after the one that is recorded; each that is made before it was in flight when its process was killed,
 * frozen or taken over, of one branch one for each of these. None is made by who drives a run that somebody else drives since.
 */
export function judge(entries: readonly Entry[], ended: readonly Ended[], plan: Plan): Verdict {
  const placed: readonly Placed[] = entries.map((entry, nth) => ({ ...entry, nth }));
  const strikes = placed.filter(({ is }) => is === 'killed' || is === 'frozen' || is === 'restarted');
  const ofRuns = byRun(placed);
  const verdicts = ended.map((end) => ofRun(end, ofRuns.get(end.run) ?? [], { strikes, plan }));
  return {
    begun: placed.filter(({ is }) => is === 'begun').length,
    again: verdicts.reduce((sum, { again }) => sum + again, 0),
    takenOver: ended.reduce((sum, { run }) => sum + takenOver(ofRuns.get(run) ?? [], strikes), 0),
    violations: verdicts.flatMap(({ violations }) => violations),
  };
}

function byRun(placed: readonly Placed[]): ReadonlyMap<string, readonly Placed[]> {
  const ofRuns = new Map<string, Placed[]>();
  for (const entry of placed) {
    if (!('run' in entry)) continue;
    const own = ofRuns.get(entry.run);
    if (own === undefined) ofRuns.set(entry.run, [entry]);
    else own.push(entry);
  }
  return ofRuns;
}

interface Against {
  readonly strikes: readonly Placed[];
  readonly plan: Plan;
}

function ofRun(
  end: Ended,
  own: readonly Placed[],
  { strikes, plan }: Against,
): Pick<Verdict, 'again' | 'violations'> {
  const begun = own.filter((entry) => entry.is === 'begun');
  const violations = [...notRecorded(end, plan), ...byWhoHasItNot(own)];
  /** For each branch and strike, the calls that were made again for it. */
  const made = new Map<string, Begun[]>();
  for (const name of plan.names) {
    const ofName = begun.filter((entry) => entry.name === name);
    const recorded = end.calls.find((call) => call.startsWith(`${name}=`))?.slice(name.length + 1);
    if (recorded === undefined) continue;
    const at = ofName.findIndex(({ nonce }) => nonce === recorded);
    if (at === -1) {
      violations.push(`${end.run}: "${name}" is recorded and was never made`);
      continue;
    }
    for (const call of ofName.slice(at + 1)) violations.push(`${said(call)} again, and was recorded`);
    for (const [n, call] of ofName.slice(0, at).entries()) {
      const strike = strikeOf(call, ofName[n + 1] as Begun, { strikes, own });
      if (strike === undefined) violations.push(`${said(call)}, then again, and nothing had befallen it`);
      const key = `${plan.branchOf(name)} ${strike?.nth}`;
      made.set(key, [...(made.get(key) ?? []), call]);
    }
  }
  for (const calls of made.values())
    if (calls.length > 1) violations.push(`${calls.map(said).join(' and ')}, and again for one strike`);
  const again = [...made.values()].reduce((sum, { length }) => sum + length, 0);
  return { again, violations };
}

const said = ({ run, name, pid }: Begun): string => `${run}: "${name}" was made by ${pid}`;

function notRecorded({ run, status, calls }: Ended, { names }: Plan): readonly string[] {
  const found = calls.map((call) => call.slice(0, call.indexOf('='))).sort();
  if (status === 'completed' && found.join() === [...names].sort().join()) return [];
  return [`${run} is ${status} with ${found.join(', ')}`];
}

/** What befell the driver of a call before it was made again; whoever was taken over may say so later. */
function strikeOf(
  call: Begun,
  next: Begun,
  { strikes, own }: { readonly strikes: readonly Placed[]; readonly own: readonly Placed[] },
): Placed | undefined {
  return (
    strikes.find(
      (strike) =>
        strike.nth > call.nth && strike.nth < next.nth && (!('pid' in strike) || strike.pid === call.pid),
    ) ?? own.find((entry) => entry.is === 'lost' && entry.pid === call.pid && entry.nth > call.nth)
  );
}

function takenOver(own: readonly Placed[], strikes: readonly Placed[]): number {
  const drives = own.filter((entry): entry is Drive => entry.is === 'driving');
  return drives.filter(({ nth }, n) => {
    const last = drives[n - 1];
    if (last === undefined) return false;
    const between = strikes.filter((strike) => strike.nth > last.nth && strike.nth < nth);
    return between.some((strike) => 'pid' in strike && strike.pid === last.pid);
  }).length;
}

/**
 * Calls of a run by who is not the last to have taken it up. Who stood still between his claim and his word of it says it late,
 * and makes no call: his word is none.
 */
function byWhoHasItNot(own: readonly Placed[]): readonly string[] {
  let holder: number | null = null;
  const violations: string[] = [];
  for (const [at, entry] of own.entries()) {
    if (entry.is === 'driving' && makesCalls(entry.pid, own.slice(at + 1))) holder = entry.pid;
    if (entry.is === 'begun' && entry.pid !== holder) violations.push(`${said(entry)}, and ${holder} has it`);
  }
  return violations;
}

/** Before it takes the run up again. */
function makesCalls(pid: number, after: readonly Placed[]): boolean {
  return after.find((entry) => 'pid' in entry && entry.pid === pid && entry.is !== 'lost')?.is === 'begun';
}

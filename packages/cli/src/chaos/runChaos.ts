import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NOTHING, type Observation, observe, readWholeLines, runResultOf } from './observe.ts';

export interface ChaosOptions {
  /** Kills that have to hit a driver at work. */
  readonly kills: number;
  /** An empty folder. */
  readonly dir: string;
  /** In [0, 1). */
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly onKill: (kills: number) => void;
}

export interface ChaosReport {
  readonly kills: number;
  /** Runs that were killed and came to their end. */
  readonly runs: number;
  /** Events of these runs that a driver was told of and that are in the state file. */
  readonly events: number;
  /** Finished steps in the state file: calls of agents, commits, checks. */
  readonly steps: number;
  /** Calls that a kill caught in flight and that were made again. */
  readonly inFlight: number;
  /** Empty when nothing was lost, torn or repeated. */
  readonly violations: readonly string[];
}

/** `driver.ts` in the sources, `driver.js` in the package. */
const DRIVER = fileURLToPath(new URL(`driver${path.extname(import.meta.url)}`, import.meta.url));

/**
 * Longest time between a driver's first sign of life and its kill, ms; so many times as long after each kill in a row that left
 * no progress, or a slow machine would have its run set aside.
 */
const LONGEST_LIFE_MS = 500;
const LONGER = 4;
const LOOK_EVERY_MS = 5;

/** Kills drivers with -9 at random moments, lets new ones go on, and judges what is left after each. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const campaign = new Campaign(options);
  const reference = await campaign.toEnd('reference', 0);
  while (campaign.goesOn) await campaign.compare(reference);
  return campaign.report;
}

class Campaign {
  readonly #options: ChaosOptions;
  #report = { kills: 0, runs: 0, events: 0, steps: 0, inFlight: 0, violations: [] as readonly string[] };

  constructor(options: ChaosOptions) {
    this.#options = options;
  }

  get report(): ChaosReport {
    return this.#report;
  }

  get goesOn(): boolean {
    const { kills, violations } = this.#report;
    return kills < this.#options.kills && violations.length === 0 && !this.#options.signal.aborted;
  }

  /** One more run, killed as often as is left to kill; it has to end as the one that nobody killed. */
  async compare(reference: string): Promise<void> {
    const name = `run-${this.#report.runs + 1}`;
    const result = await this.toEnd(name, this.#options.kills - this.#report.kills);
    if (this.#options.signal.aborted || this.#report.violations.length > 0) return;
    this.#report.runs += 1;
    if (result !== reference)
      this.#report.violations = [`${name} ended differently from a run without kills`];
  }

  /** Drives a run to its end, through so many kills at most. */
  async toEnd(name: string, kills: number): Promise<string> {
    const dir = path.join(this.#options.dir, name);
    mkdirSync(dir);
    let before = NOTHING;
    for (let left = kills; ; ) {
      const isKilled = await this.#live(dir, left > 0 ? before : null);
      if (this.#options.signal.aborted) return '';
      const after = observe(dir);
      this.#judge(before, after, isKilled);
      if (this.#report.violations.length > 0) return '';
      if (!isKilled) return this.#resultOf(dir, after, kills > 0);
      before = after;
      left -= 1;
    }
  }

  async #resultOf(dir: string, { status, told, recorded }: Observation, counts: boolean): Promise<string> {
    if (status !== 'completed') this.#report.violations = [`${path.basename(dir)} ended ${status}`];
    if (counts) {
      this.#report.events += told.length;
      this.#report.steps += recorded.size;
    }
    return runResultOf(dir);
  }

  #judge(before: Observation, after: Observation, isKilled: boolean): void {
    const { inFlight, violations } = judge(before, after);
    this.#report.inFlight += inFlight;
    this.#report.violations = violations;
    if (isKilled) this.#options.onKill(++this.#report.kills);
  }

  /** One driver; killed once it has done more than those `before` it. Whether the kill came in time. */
  async #live(dir: string, before: Observation | null): Promise<boolean> {
    const { signal, random } = this.#options;
    const child = spawn(process.execPath, [...process.execArgv, DRIVER, dir], { stdio: 'ignore' });
    const kill = (): boolean => child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
      child.on('error', reject).on('close', (_code, by) => resolve(by));
    });
    if (before !== null) {
      const hasWorked = (): boolean =>
        readWholeLines(path.join(dir, 'events.log')).length > before.told.length;
      while (isRunning(child) && !signal.aborted && !hasWorked()) await sleep(LOOK_EVERY_MS);
      await Promise.race([sleep(random() * LONGEST_LIFE_MS * LONGER ** before.recoveries), ended]);
      kill();
    }
    const by = await ended;
    signal.removeEventListener('abort', kill);
    return by === 'SIGKILL';
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

export interface Verdict {
  /** Calls that were in flight at the kill before and were made again. */
  readonly inFlight: number;
  readonly violations: readonly string[];
}

/** Judges what a driver left against what the one before it had left. */
export function judge(before: Observation, after: Observation): Verdict {
  const made = after.calls.slice(before.calls.length);
  const again = made.filter((key) => before.calls.includes(key) && !before.recorded.has(key));
  return {
    inFlight: again.length,
    violations: [
      ...lostEvents(after).map((event) => `acknowledged event was lost: ${event}`),
      ...[...before.recorded]
        .filter((key) => !after.recorded.has(key))
        .map((key) => `recorded step was lost: ${key}`),
      ...made.filter((key) => before.recorded.has(key)).map((key) => `recorded call was repeated: ${key}`),
      ...(again.length > 1 ? [`${again.length} calls in flight were repeated: ${again.join(', ')}`] : []),
      ...(after.sound ? [] : ['state file is damaged: devs doctor reports a problem']),
    ],
  };
}

/** Each event is held as often as it was told. */
function lostEvents({ told, logged }: Observation): readonly string[] {
  const left = new Map<string, number>();
  for (const event of logged) left.set(event, (left.get(event) ?? 0) + 1);
  return told.filter((event) => {
    const count = (left.get(event) ?? 0) - 1;
    left.set(event, count);
    return count < 0;
  });
}

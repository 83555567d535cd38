import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openReadOnly, STATE_FILE, ThreadStore } from '@devs/core';
import { type EndedRun, judgeEnd } from './judgeEnd.ts';
import { judgeFile } from './judgeFile.ts';
import { goalsReached, judgeGoals } from './judgeGoals.ts';
import { judgeLife } from './judgeLife.ts';
import type { ModelServer } from './ModelServer.ts';
import { type Commit, NOTHING, type Observation, type ObservedEvent } from './Observation.ts';
import { observeFile } from './observeFile.ts';
import { type Ended, Program } from './Program.ts';
import { play, type Role } from './play.ts';
import { type GoalOptions, isForHuman, RUN_ID, type Scenario } from './scenarios.ts';
import { type Outcome, workspaceOf } from './subject.ts';

export interface KilledRunOptions {
  readonly scenario: Scenario;
  /** A fresh folder. */
  readonly dir: string;
  /** Path of the bundled `run.child.ts`. */
  readonly program: string;
  readonly server: ModelServer;
  /** The run's number on the server. */
  readonly number: number;
  readonly random: () => number;
  /** Whether the next driver is to be killed. */
  readonly wantsKill: () => boolean;
  /** Whether also who is not to be killed has a process of its own. Played in this one they cost a tenth. */
  readonly isApart: () => boolean;
  /** Told of every life: whether its driver was killed, and what repeated what. */
  readonly onLife: (life: Life) => void;
}

export interface Life {
  readonly killed: boolean;
  readonly killWanted: boolean;
  /** Set when the driver before was killed. */
  readonly afterKill: { readonly repeatedCalls: number; readonly redoneNodes: number } | null;
}

/** Longest time a driver lives, ms, once it has loaded; git makes everything slower. */
const LONGEST_LIFE_MS = { file: 350, git: 700 };

/** Of a driver whose run is reviewed: it goes no further than the next gate, so late moments have to be hit, too. */
const LONGEST_REVIEWED_LIFE_MS = 1_000;

/** Longest time a process lives that decides, ms, once it has loaded. */
const LONGEST_DECISION_MS = 60;

/** A run is given up at the fifth death without progress (dead letter): the driver after the fourth is let through to it. */
const PATIENT_FROM_RECOVERIES = 3;

/** Far above what any scenario needs. */
const MAX_LIVES = 300;

/** One run, driven by one process after the other, most of which are killed. */
export class KilledRun {
  readonly violations: string[] = [];
  readonly #options: KilledRunOptions;
  /** What there was at each goal, in words. */
  readonly #stops: string[] = [];
  #last: Observation = NOTHING;

  constructor(options: KilledRunOptions) {
    this.#options = options;
    mkdirSync(options.dir, { recursive: true });
  }

  /** Drives the run until it has ended; returns what is left, or `null` if it did not end well. */
  async toEnd(): Promise<EndedRun | null> {
    for (let lives = 0; lives < MAX_LIVES && this.violations.length === 0; lives++) {
      const outcome = await this.#live();
      const isSuspended = outcome?.status === 'waiting';
      const isEnd = outcome !== null && !isSuspended && outcome.status !== 'paused';
      if (isEnd) return { outcome, last: this.#last, stops: this.#stops };
      if (isSuspended || this.#decidesEarly()) await this.#decide();
    }
    if (this.violations.length === 0) this.violations.push(`not ended after ${MAX_LIVES} lives`);
    return null;
  }

  compare(ended: EndedRun | null, reference: EndedRun): void {
    if (ended !== null) this.violations.push(...judgeEnd(ended, reference));
  }

  /** A human may be quicker than the next driver; a policy is the driver's own. */
  #decidesEarly(): boolean {
    const { scenario, random } = this.#options;
    return (scenario.gates === 'human' || scenario.review !== undefined) && random() < 0.5;
  }

  /** One driver, from its start to its end or its kill. */
  async #live(): Promise<Outcome | null> {
    const { wantsKill, onLife, server, scenario } = this.#options;
    const killWanted = wantsKill();
    const { review, workspace } = scenario;
    const longestMs = review === undefined ? LONGEST_LIFE_MS[workspace] : LONGEST_REVIEWED_LIFE_MS;
    const role = { ...this.#role('drive'), ...this.#goal() };
    const { signal, code, result, stderr } = await this.#played(role, killWanted ? longestMs : null);
    await server.settled();

    const finished = result !== undefined;
    const killed = signal === 'SIGKILL' && !finished;
    if (!killed && code !== 0 && !finished) this.violations.push(`driver ended with ${code}: ${stderr}`);
    const before = this.#last;
    this.#last = await this.#observe(killed);
    const { violations, ...repeats } = judgeLife(before, this.#last, scenario.branches);
    this.violations.push(
      ...violations,
      ...judgeFile(this.#last, scenario.branches),
      ...judgeGoals(this.#last, scenario),
    );
    if (goalsReached(this.#last) > goalsReached(before)) this.#stops.push(standOf(this.#last));
    onLife({ killed, killWanted, afterKill: before.killed ? repeats : null });
    return finished ? (result as Outcome) : null;
  }

  /** The recorded goal holds without being named again. */
  #goal(): { readonly goal?: GoalOptions } {
    const { scenario, random } = this.#options;
    const goal = scenario.goals?.[goalsReached(this.#last)];
    const isRecorded = this.#last.file.goal !== null;
    return goal === undefined || (isRecorded && random() < 0.5) ? {} : { goal };
  }

  /** Killed within that time, or not at all. */
  async #played(role: Role, killWithinMs: number | null = null): Promise<Ended> {
    const { program, isApart } = this.#options;
    // Who follows on a killed driver has a process of its own.
    const isHere = killWithinMs === null && !this.#last.killed && !isApart();
    if (isHere) return { signal: null, code: 0, stderr: '', result: await play(role) };
    const process = new Program(program, role);
    if (killWithinMs !== null) await this.#killAtRandom(process, killWithinMs);
    return process.ended;
  }

  async #killAtRandom(driver: Program, longestMs: number): Promise<void> {
    const { random } = this.#options;
    const patient = this.#last.file.recoveries >= PATIENT_FROM_RECOVERIES;
    const delayMs = random() * longestMs;
    await driver.ready;
    while (patient && driver.isRunning && this.#recoveriesNow() > 0) await sleep(20);
    await Promise.race([sleep(delayMs), driver.ended]);
    driver.kill();
  }

  /** Read through a connection that is closed again: an open one would keep the next driver from recovering the file. */
  #recoveriesNow(): number {
    const db = openReadOnly({ dbPath: join(this.#options.dir, '.devs', STATE_FILE) });
    const recoveries = new ThreadStore(db).get(RUN_ID)?.recoveries ?? 0;
    db.close();
    return recoveries;
  }

  /** Decides what is open, in one process or, as a double click would, in two at once. */
  async #decide(): Promise<void> {
    const { random, scenario } = this.#options;
    const open = this.#last.file.sessions.filter(
      ({ kind, status }) => status === 'awaiting_approval' && isForHuman(scenario, kind),
    ).length;
    if (open === 0 || (scenario.edits && (await this.#killedDecider()))) return;
    const deciders = Array.from({ length: random() < 0.5 ? 1 : 2 }, () => this.#played(this.#role('decide')));
    const ended = await Promise.all(deciders);
    for (const { code, stderr } of ended) {
      if (code !== 0) this.violations.push(`decider ended with ${code}: ${stderr}`);
    }
    const decided = ended.reduce((sum, { result }) => sum + Number(result ?? 0), 0);
    if (decided !== open) this.violations.push(`${open} open gates, ${decided} decisions`);
  }

  /** A human whose process dies while their decision is recorded; whether it is, is not known. */
  async #killedDecider(): Promise<boolean> {
    const { wantsKill, onLife } = this.#options;
    if (!wantsKill()) return false;
    const { signal, code, result, stderr } = await this.#played(this.#role('decide'), LONGEST_DECISION_MS);
    const killed = signal === 'SIGKILL' && result === undefined;
    if (!killed && code !== 0 && result === undefined)
      this.violations.push(`decider ended with ${code}: ${stderr}`);
    onLife({ killed, killWanted: true, afterKill: null });
    return true;
  }

  async #observe(killed: boolean): Promise<Observation> {
    const { dir, server, number, scenario } = this.#options;
    const file = await observeFile(join(dir, '.devs'));
    const commits = scenario.graph === 'pipeline' ? await commitsOf(this.#options) : [];
    return { file, calls: server.keysOf(number), acknowledged: acknowledgedIn(dir), commits, killed };
  }

  #role(role: Role['role']): Role {
    const { scenario, dir, server, number } = this.#options;
    return { role, scenario, dir, model: server.urlOf(number) };
  }
}

function standOf({ file, commits }: Observation): string {
  const decided = file.sessions.map(({ kind, status }) => `${kind} ${status}`);
  const subjects = commits.map(({ subject }) => subject);
  return JSON.stringify({
    status: file.status,
    goal: file.goal,
    decided,
    subjects,
    outputs: file.outputs.size,
  });
}

/** The last line may be cut short by the kill. */
function acknowledgedIn(dir: string): readonly ObservedEvent[] {
  const log = join(dir, 'acks.log');
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [name, payload] = JSON.parse(line) as [string, unknown];
    return { name, payload };
  });
}

/** Git is asked directly: opening the workspace could repair what is to be judged. */
async function commitsOf({
  scenario,
  dir,
}: Pick<KilledRunOptions, 'scenario' | 'dir'>): Promise<readonly Commit[]> {
  if (scenario.workspace === 'file') {
    const commits = await (await workspaceOf({ scenario, dir }).open(RUN_ID)).log();
    return commits.map((commit) => ({ ...commit, content: commit.sha }));
  }
  const gitDir = join(dir, '.devs', 'git', `${RUN_ID}.git`);
  const branch = `refs/heads/devs/${RUN_ID}`;
  const git = (...args: readonly string[]) => promisify(execFile)('git', ['--git-dir', gitDir, ...args]);
  if (!(await git('rev-parse', '--verify', branch).catch(() => false))) return []; // no git dir, half a one, no commit
  const { stdout } = await git('log', '--reverse', '--format=%H %T %s', branch);
  return stdout
    .trim()
    .split('\n')
    .map((line) => ({ sha: line.slice(0, 40), content: line.slice(41, 81), subject: line.slice(82) }));
}

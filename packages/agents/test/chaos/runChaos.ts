import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '../../../core/test/support/programFile.ts';
import type { EndedRun } from './judgeEnd.ts';
import { KilledRun, type Life } from './KilledRun.ts';
import { ModelServer } from './ModelServer.ts';
import { OWN_GRAPHS, PIPELINES, type Scenario } from './scenarios.ts';
import { seededRandom } from './seededRandom.ts';

export interface ChaosOptions {
  /** Kills that must hit a live driver, per kind of graph. */
  readonly kills: { readonly pipeline: number; readonly ownGraph: number };
  /** What is killed under `pipeline`, in turn. @defaultValue {@link PIPELINES} */
  readonly pipelines?: readonly Scenario[];
  /** Own graphs of this mode alone. @defaultValue both */
  readonly durability?: Scenario['durability'];
  /** How many of the processes are to be killed, while there are kills left. @defaultValue 1 */
  readonly share?: number;
  /**
   * Whether only who is to be killed, and who follows on them, has a process of its own. @defaultValue all have as long as
   * there are kills left
   */
  readonly isShort?: boolean;
  /** Fixes scenarios, kill times and latencies; where a kill falls still depends on the machine. */
  readonly seed: number;
  /** Runs at the same time. @defaultValue 3 */
  readonly chains?: number;
  /** Time before each chunk of a model's answer, ms. @defaultValue 5 to 40 */
  readonly chunkMs?: { readonly min: number; readonly max: number };
  /** Told after every life of a driver. */
  readonly onProgress?: (kills: number) => void;
}

export interface ChaosReport {
  readonly seed: number;
  readonly kills: { readonly pipeline: number; readonly ownGraph: number };
  readonly runs: number;
  /** Drivers that were started to be killed and had finished before. */
  readonly missed: number;
  /** How many kills led to 0, 1, … calls being made again. */
  readonly repeatedCalls: Histogram;
  /** How many kills led to 0, 1, … nodes running again. */
  readonly redoneNodes: Histogram;
  /** With run and folder; folders of runs with violations are kept. */
  readonly violations: readonly string[];
}

/** A count for each number of repeats. */
export type Histogram = Readonly<Record<number, number>>;

type Kind = keyof ChaosOptions['kills'];

/**
 * Kills drivers with -9 at random moments, lets new processes go on, and judges after every one what was lost, torn or
 * repeated.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-chaos-'));
  const campaign = new Campaign(dir, options);
  const report = await campaign.run();
  if (report.violations.length === 0) rmSync(dir, { recursive: true, force: true });
  return report;
}

const program = (name: string): string => programFile(new URL(`${name}.child.ts`, import.meta.url));

class Campaign {
  readonly #dir: string;
  readonly #programs = { run: program('run'), modelServer: program('modelServer') };
  readonly #options: ChaosOptions;
  readonly #kills = { pipeline: 0, ownGraph: 0 };
  /** Kills that are planned and have not happened yet. */
  readonly #planned = { pipeline: 0, ownGraph: 0 };
  readonly #repeatedCalls: Record<number, number> = {};
  readonly #redoneNodes: Record<number, number> = {};
  readonly #violations: string[] = [];
  readonly #references = new Map<string, Promise<EndedRun>>();
  /** Taken in turn from any of them on: few kills meet others in every run. */
  readonly #started: { pipeline: number; ownGraph: number };
  #runs = 0;
  #missed = 0;

  constructor(dir: string, options: ChaosOptions) {
    this.#dir = dir;
    this.#options = options;
    this.#started = { pipeline: options.seed, ownGraph: options.seed };
  }

  async run(): Promise<ChaosReport> {
    const { seed, chains = 3 } = this.#options;
    await Promise.all(Array.from({ length: chains }, (_, chain) => this.#chain(chain)));
    return {
      seed,
      kills: this.#kills,
      runs: this.#runs,
      missed: this.#missed,
      repeatedCalls: this.#repeatedCalls,
      redoneNodes: this.#redoneNodes,
      violations: this.#violations,
    };
  }

  /** Runs one after the other, against a model server of their own, until there is nobody left to kill. */
  async #chain(chain: number): Promise<void> {
    const { seed, chunkMs = { min: 5, max: 40 } } = this.#options;
    const logs = join(this.#dir, `calls-${chain}`);
    mkdirSync(logs);
    const server = await ModelServer.start(this.#programs.modelServer, { logs, chunkMs, seed: seed + chain });
    try {
      for (let kind = this.#kindWithWork(); kind !== null; kind = this.#kindWithWork())
        await this.#killedRun(kind, server);
    } finally {
      await server.stop();
    }
  }

  /** The kind that lags behind most; the plan of another chain may fail, but then that chain goes on. */
  #kindWithWork(): Kind | null {
    const shareLeft = (kind: Kind): number =>
      1 - (this.#kills[kind] + this.#planned[kind]) / (this.#options.kills[kind] || 1);
    const kinds = (['pipeline', 'ownGraph'] as const).filter(
      (kind) => this.#options.kills[kind] > 0 && shareLeft(kind) > 0,
    );
    const [first = null] = kinds.sort((a, b) => shareLeft(b) - shareLeft(a));
    return this.#violations.length > 0 ? null : first;
  }

  async #killedRun(kind: Kind, server: ModelServer): Promise<void> {
    const { pipelines = PIPELINES, durability } = this.#options;
    const ownGraphs = OWN_GRAPHS.filter((own) => durability === undefined || own.durability === durability);
    const scenarios = kind === 'pipeline' ? pipelines : ownGraphs;
    const scenario = scenarios[this.#started[kind]++ % scenarios.length] as Scenario;
    const reference = await this.#reference(scenario, server); // before: the server waits until nobody is connected
    const number = ++this.#runs;
    const dir = join(this.#dir, `run-${number}`);
    const random = seededRandom(this.#options.seed + 7919 * number);
    const { share = 1, isShort = false } = this.#options;
    const run = new KilledRun({
      scenario,
      dir,
      program: this.#programs.run,
      server,
      number,
      random,
      wantsKill: () => random() < share && this.#plan(kind),
      isApart: () => !isShort && this.#kills[kind] < this.#options.kills[kind],
      onLife: (life) => this.#count(kind, life),
    });
    run.compare(await run.toEnd(), reference);
    const found = run.violations.map((violation) => `run ${number} (${scenario.name}) ${dir}: ${violation}`);
    this.#violations.push(...found);
    if (found.length === 0) rmSync(dir, { recursive: true, force: true });
  }

  #plan(kind: Kind): boolean {
    if (this.#kills[kind] + this.#planned[kind] >= this.#options.kills[kind]) return false;
    this.#planned[kind] += 1;
    return true;
  }

  #count(kind: Kind, { killed, killWanted, afterKill }: Life): void {
    if (killWanted) this.#planned[kind] -= 1;
    if (killed) this.#kills[kind] += 1;
    else if (killWanted) this.#missed += 1;
    if (afterKill !== null) {
      const { repeatedCalls, redoneNodes } = afterKill;
      this.#repeatedCalls[repeatedCalls] = (this.#repeatedCalls[repeatedCalls] ?? 0) + 1;
      this.#redoneNodes[redoneNodes] = (this.#redoneNodes[redoneNodes] ?? 0) + 1;
    }
    this.#options.onProgress?.(this.#kills.pipeline + this.#kills.ownGraph);
  }

  /** How a scenario ends that nobody kills; driven once. */
  #reference(scenario: Scenario, server: ModelServer): Promise<EndedRun> {
    const known = this.#references.get(scenario.name);
    if (known !== undefined) return known;
    const reference = this.#unkilled(scenario, server);
    this.#references.set(scenario.name, reference);
    return reference;
  }

  async #unkilled(scenario: Scenario, server: ModelServer): Promise<EndedRun> {
    const number = ++this.#runs;
    const run = new KilledRun({
      scenario,
      dir: join(this.#dir, `run-${number}`),
      program: this.#programs.run,
      server,
      number,
      random: seededRandom(this.#options.seed + 7919 * number),
      wantsKill: () => false,
      isApart: () => false,
      onLife: () => {},
    });
    const ended = await run.toEnd();
    if (ended !== null && ended.outcome.status === 'completed') return ended;
    throw new Error(
      `${scenario.name} does not complete without kills: ${[ended?.outcome.reason, ...run.violations].join('; ')}`,
    );
  }
}

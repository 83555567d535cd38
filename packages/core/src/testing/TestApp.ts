import type { Database } from 'better-sqlite3';
import { createDatabase } from '../db/createDatabase.ts';
import type { DurableApp } from '../engine/app/DurableApp.ts';
import { type DurableOptions, durable } from '../engine/app/durable.ts';
import type { DueRuns } from '../engine/drive/drive.ts';
import type { NotFailed, RunResult } from '../engine/drive/RunResult.ts';
import type { RunOptions } from '../engine/file/RunOptions.ts';
import type { AnswersAt, GatesBefore } from '../engine/gates/DeclaredGate.ts';
import type { Gate, GateAnswer, GateOfApp } from '../engine/gates/Gate.ts';
import type {
  GraphOf,
  GraphSource,
  NameOf,
  OutputOf,
  StateOf,
  UpdateOf,
} from '../engine/graph/graphSource.ts';
import { type CrashPoint, withCrashPoints } from '../engine/node/crashPoint.ts';
import { afterDeath } from '../state/threads/driverDeaths.ts';

/** The human of tests. */
const TESTER = { kind: 'human', id: 'tester' } as const;

type TestAnswer = Readonly<Record<string, unknown>>;

/** As {@link DurableApp.decide} takes it; without `by` it is the test's own human. */
type GivenAnswer = (GateAnswer extends infer One
  ? One extends unknown
    ? Omit<One, 'by'>
    : never
  : never) & {
  readonly by?: GateAnswer['by'];
};

/** What lets a run go on at a gate of each kind; one that is not named is approved. */
const YES: { readonly [Kind in Gate['kind']]?: TestAnswer } = {
  interrupt: { value: true },
  task_failure: { action: 'retry' },
  recursion_limit: { action: 'continue' },
  step: { action: 'use' },
};

/** @throws TypeError at a budget: how much more there is to spend is nobody's default. */
function yesTo({ kind }: Gate): TestAnswer {
  if (kind === 'budget') throw new TypeError("Say how much: answer(gate, { action: 'raise', usd: 1 }).");
  return YES[kind] ?? { approved: true };
}

/** As of `durable`, without a file: the state is in memory. */
export interface TestOptions<
  State,
  Name extends string = string,
  Gates = DurableOptions<State, Name>['gates'],
> extends Omit<DurableOptions<State, Name, Gates>, 'file' | 'db' | 'now'> {
  /** @defaultValue one that begins in 2030 */
  readonly clock?: SkippingClock;
}

/**
 * Creates an app for tests of a graph, with its state in memory and a {@link SkippingClock}. It survives the processes
 * that the test ends.
 *
 * @throws as `durable`.
 *
 * @example
 * ```ts
 * const app = testApp(mailAgent(model, send));
 * await app.crashAt('in step llm', 'mail-1', { messages: ['Write to Bob.'] });
 * const { gates: [gate] } = await app.run('mail-1');
 * await app.answer(gate);
 * ```
 */
export function testApp<Source extends GraphSource, Answers extends AnswersAt<NameOf<Source>>, Gates>(
  source: Source,
  {
    clock = new SkippingClock(),
    ...options
  }: TestOptions<
    StateOf<Source>,
    NameOf<Source>,
    GatesBefore<StateOf<Source>, NameOf<Source>, Answers> & Gates
  > = {},
): TestApp<GraphOf<Source>, StateOf<Source>, UpdateOf<Source>, OutputOf<Source>, GateOfApp<Gates>> {
  return new TestApp(
    (db) => durable<Source, Answers, Gates>(source, { ...options, db, now: clock.now }),
    clock,
  );
}

/** One process after the other on the same state. */
export class TestApp<Graph, State, Update, Output = State, AppGate extends Gate = Gate> {
  readonly clock: SkippingClock;
  readonly #open: (db: Database) => DurableApp<Graph, State, Update, Output, AppGate>;
  #db = createDatabase({ dbPath: ':memory:' });
  #app: DurableApp<Graph, State, Update, Output, AppGate>;

  constructor(
    open: (db: Database) => DurableApp<Graph, State, Update, Output, AppGate>,
    clock: SkippingClock,
  ) {
    this.clock = clock;
    this.#open = open;
    this.#app = open(this.#db);
  }

  /** The app of the process that lives; another one after {@link restart} and {@link crashAt}. */
  get app(): DurableApp<Graph, State, Update, Output, AppGate> {
    return this.#app;
  }

  /** As {@link DurableApp.run}. */
  run(
    id: string,
    input?: Update,
    options?: RunOptions & { readonly throwOnFailure?: true },
  ): Promise<NotFailed<RunResult<Output, AppGate>>>;
  run(id: string, input: Update | undefined, options: RunOptions): Promise<RunResult<Output, AppGate>>;
  run(id: string, input?: Update, options: RunOptions = {}): Promise<RunResult<Output>> {
    return this.#app.run(id, input, options);
  }

  /**
   * Decides a gate as a human of the test.
   *
   * @param given - @defaultValue yes, as the gate's kind has it, by the test's own human
   * @throws TypeError without a gate, and for a budget without an answer; DevsError as {@link DurableApp.decide}.
   */
  async answer(gate: Gate | undefined, given?: GivenAnswer | Pick<GivenAnswer, 'by'>): Promise<void> {
    const { by = TESTER, ...said } = given ?? {};
    if (gate === undefined) throw new TypeError('There is no gate to answer: the run does not wait.');
    const answer = Object.keys(said).length > 0 ? said : yesTo(gate);
    await this.#app.decide(gate, { by, ...answer } as GateAnswer);
  }

  /**
   * Lets time pass, and drives every run for which that was what it waited for.
   *
   * @param ms - Milliseconds; negative where the clock is set back.
   * @throws RangeError for what is no whole number of milliseconds; DevsError as {@link DurableApp.runDue}.
   */
  skip(ms: number): Promise<DueRuns<RunResult<Output>>> {
    this.clock.advance(ms);
    return this.#app.runDue();
  }

  /** Ends the process where it stands, as if nobody drove a run, and starts another one. */
  restart(): void {
    this.#db = afterDeath(this.#db);
    this.#app = this.#open(this.#db);
  }

  /**
   * Drives a run up to a place, and ends the process there as `kill -9` does: what is committed stays, nothing else is
   * written, and what awaits the place never goes on. Then another process is there, for `run` to go on with. What the
   * graph does side by side may still be heard by the fakes of the test.
   *
   * @throws Error if the run did not come to that place; what the run was rejected with.
   */
  async crashAt(point: CrashPoint, id: string, input?: Update, options?: RunOptions): Promise<void> {
    const ended = await new Promise<RunResult<Output> | null>((resolve, reject) => {
      let isDead = false;
      const onPoint = (reached: CrashPoint): boolean => {
        if (!isDead && reached !== point) return false;
        if (!isDead) this.restart();
        isDead = true;
        resolve(null);
        return true;
      };
      withCrashPoints(onPoint, () => this.run(id, input, { ...options, throwOnFailure: false })).then(
        resolve,
        reject,
      );
    });
    if (ended === null) return;
    throw new Error(
      `Run "${id}" did not come to "${point}": it is ${ended.status} (${ended.reason ?? 'no reason'}).`,
    );
  }

  close(): void {
    this.#db.close();
  }
}

/**
 * A clock that stands still until a test moves it; a negative step sets it back.
 *
 * @example
 * ```ts
 * const clock = new SkippingClock();
 * const app = durable(builder, { file, now: clock.now });
 * clock.advance(3 * 24 * 60 * 60 * 1000);
 * ```
 */
export class SkippingClock {
  #at: number;

  /** @param start - Milliseconds since the Unix epoch, UTC, or a date. @defaultValue 2030-01-01 */
  constructor(start: number | Date = Date.UTC(2030, 0, 1)) {
    this.#at = validTime(Number(start));
  }

  /** Milliseconds since the Unix epoch, UTC. Can be passed on without its clock. */
  readonly now = (): number => this.#at;

  /** Moves the clock. @throws RangeError unless `ms` is a whole number of milliseconds. */
  advance(ms: number): void {
    this.#at = validTime(this.#at + ms);
  }
}

function validTime(at: number): number {
  if (Number.isSafeInteger(at)) return at;
  throw new RangeError(`Expected a time in whole milliseconds, got ${String(at)}.`);
}

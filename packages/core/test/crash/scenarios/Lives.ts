import { randomInt } from 'node:crypto';
import { copyFileSync, existsSync } from 'node:fs';
import type { Durability } from '../../../src/config/durability.ts';
import { createDatabase } from '../../../src/db/createDatabase.ts';
import type { durable } from '../../../src/engine/app/durable.ts';
import { type Death, DyingFile } from '../../support/DyingFile.ts';
import { interceptStatements } from '../../support/interceptStatements.ts';
import { spawnProgram, type TsProcess } from '../../support/spawnTs.ts';
import { effectsInto, effectsOf, inMode, type Life } from './Life.ts';
import { Continued, type Left, type Place, type Process, type Scenario } from './Scenario.ts';

const CHILD = 'packages/core/test/crash/scenarios/life.child.ts';

/** A process of a scenario inside the process of the test. */
interface ProcessHere extends Process {
  readonly file: DyingFile;
}

export interface Lived {
  readonly outcome: unknown;
  readonly writes: number;
}

interface Heir {
  readonly live: (run: string) => Promise<Lived | null>;
  /** The bystander, where there is one. */
  readonly process?: Process;
  readonly close: () => void;
}

/** The processes of a scenario, here and apart. */
export class Lives {
  readonly #scenario: Scenario;
  readonly #dbPath: string;
  readonly #durable: typeof durable;
  readonly #durability: Durability;
  /** How many processes each run has had. */
  readonly #lives = new Map<string, number>();

  private constructor(
    scenario: Scenario,
    dbPath: string,
    withDurable: typeof durable,
    durability: Durability,
  ) {
    this.#scenario = scenario;
    this.#dbPath = dbPath;
    this.#durable = inMode(withDurable, durability);
    this.#durability = durability;
  }

  /** Creates the state file and prepares it for the scenario. */
  static async of(
    scenario: Scenario,
    dbPath: string,
    withDurable: typeof durable,
    durability: Durability = 'async',
  ): Promise<Lives> {
    const lives = new Lives(scenario, dbPath, withDurable, durability);
    const own = lives.#open(dbPath, 'prepared', null);
    await scenario.prepare?.(own);
    own.db.pragma('wal_checkpoint(TRUNCATE)');
    own.db.close();
    return lives;
  }

  /** The process that resumes runs after a death, inside this one. */
  heir(): Heir {
    if (this.#scenario.heir !== 'a bystander') return { live: (run) => this.here(run), close: () => {} };
    const own = this.process('whole');
    const live = this.#scenario.start(own);
    return {
      process: own,
      live: async (run) => ({ outcome: await live(run), writes: own.file.writes }),
      close: () => void own.db.close(),
    };
  }

  /** Runs to the end inside this process; `null` after a death. */
  async here(run: string, death: Death | null = null): Promise<Lived | null> {
    let told: unknown;
    for (let writes = 0; ; ) {
      const own = this.process(run, death && { ...death, write: death.write - writes });
      try {
        const outcome = await this.#scenario.start(own)(run, told);
        writes += own.file.writes;
        if (!(outcome instanceof Continued)) return { outcome, writes };
        told = outcome.told;
      } catch (error) {
        if (own.db.open) throw error;
        return null;
      } finally {
        own.db.close();
      }
    }
  }

  process(run: string, death: Death | null = null): ProcessHere {
    return this.#open(this.#fileOf(run), run, death);
  }

  /** Runs in a process of its own. */
  apart(run: string, { told, place, tells }: Pick<Life, 'told' | 'place' | 'tells'> = {}): TsProcess {
    const { what } = this.#scenario;
    const life: Life = {
      ...{ what, run, dbPath: this.#fileOf(run), life: this.#next(run), durability: this.#durability },
      ...(told !== undefined && { told }),
      ...(place !== undefined && { place }),
      ...(tells !== undefined && { tells }),
    };
    return spawnProgram(CHILD, [JSON.stringify(life)]);
  }

  /** Counts the statements of a run at which its process can be killed. */
  async statements(run: string): Promise<number> {
    const own = this.process(run);
    let statements = 0;
    const count = (work: () => unknown, { readonly }: { readonly readonly: boolean }): unknown => {
      statements += readonly ? 0 : 1;
      return work();
    };
    interceptStatements(own.db, count, { controls: true });
    await this.#scenario.start(own)(run);
    own.db.close();
    return statements;
  }

  /** Reads the file between a death and the process that resumes the run. */
  async between(run: string): Promise<unknown> {
    const own = this.process(run);
    const said = await this.#scenario.between?.(own, run);
    own.db.close();
    return said;
  }

  /** Releases the lease, as the end of a real process does. */
  release(run: string): void {
    const { db } = this.process(run);
    db.prepare('UPDATE threads SET lease_owner = NULL').run();
    db.close();
  }

  /** Result, rows and effects of a run. */
  async left(run: string, outcome: unknown): Promise<Left> {
    const own = this.process(run);
    const inFile = await this.#scenario.inFile(own, run);
    own.db.close();
    const { outside } = this.#scenario;
    const effects = effectsOf(this.#fileOf(run), run);
    return { outcome, inFile, ...(outside && { outside: outside(effects) }) };
  }

  #next(run: string): number {
    const life = (this.#lives.get(run) ?? 0) + 1;
    this.#lives.set(run, life);
    return life;
  }

  #fileOf(run: string): string {
    if (this.#scenario.prepare === undefined) return this.#dbPath;
    const file = `${this.#dbPath}-${run}`;
    if (!existsSync(file)) copyFileSync(this.#dbPath, file);
    return file;
  }

  #open(dbPath: string, run: string, death: Death | null): ProcessHere {
    const db = createDatabase({ dbPath });
    db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
    const file = new DyingFile(db, death);
    const keep = effectsInto(dbPath, run, this.#next(run));
    const effect: Process['effect'] = (what, key) => {
      if (!db.open) throw new Error('The process is gone.');
      keep(what, key);
    };
    return { db, file, durable: this.#durable, effect, moment: () => {} };
  }
}

/** Expected result, rows and effects of a run whose process died at `place`. */
export async function leftAfter(scenario: Scenario, run: string, place: Place): Promise<Left> {
  const { between: _, ...left } = await scenario.expected(run, place);
  return left;
}

/** The states in which the file may be right after a death. */
export const mayBeBetween = async (scenario: Scenario, place: Place): Promise<readonly unknown[]> =>
  (await scenario.expected('', place)).between ?? [];

/** Numbers of statements, `wanted` of them if there are so many: one of each equal part, which differs from run to run. */
export function placesIn(total: number, wanted: number, { between }: Scenario): readonly number[] {
  const count = Math.min(total, wanted);
  const part = total / count;
  // A change is one transaction at its end: evenly, from the last statement on.
  const placeOf = (at: number): number =>
    between === undefined
      ? 1 + Math.floor(at * part) + randomInt(Math.max(1, Math.floor(part)))
      : total - Math.floor(at * part);
  return Array.from({ length: count }, (_, at) => placeOf(at));
}

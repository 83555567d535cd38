import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Durability } from '../../../src/config/durability.ts';
import type { durable } from '../../../src/engine/app/durable.ts';
import type { Effect } from './Scenario.ts';

/** Arguments of a process that runs a scenario. */
export interface Life {
  readonly what: string;
  readonly run: string;
  readonly dbPath: string;
  /** Which process of the run it is, counted from 1. */
  readonly life: number;
  readonly durability: Durability;
  readonly told?: unknown;
  /** Where it dies. @defaultValue nowhere */
  readonly place?: number | string;
  /** Whether it tells of its writes. @defaultValue false */
  readonly tells?: boolean;
}

/** As `durable`, of runs that are so far ahead of the disk. */
export const inMode = (withDurable: typeof durable, durability: Durability): typeof durable =>
  ((source: never, options: object) =>
    withDurable(source, { durability, ...options } as never)) as unknown as typeof durable;

const fileOf = (dbPath: string, run: string): string => `${dbPath}.${run}.effects`;

/** Appends each effect of a run to a file, as a line: a killed process leaves it there. */
export const effectsInto =
  (dbPath: string, run: string, life: number) =>
  (what: string, key = ''): void =>
    appendFileSync(fileOf(dbPath, run), `${JSON.stringify({ life, what, key } satisfies Effect)}\n`);

/** Effects of all processes of a run. */
export function effectsOf(dbPath: string, run: string): readonly Effect[] {
  const file = fileOf(dbPath, run);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line) as Effect);
}

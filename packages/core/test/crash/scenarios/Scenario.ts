import type { Database } from 'better-sqlite3';
import type { durable } from '../../../src/engine/app/durable.ts';

/** Something that was done outside of the file, in whatever process. */
export interface Effect {
  /** Which process did it, counted from 1. */
  readonly life: number;
  readonly what: string;
  readonly key: string;
}

/** The connection of a process, and its ways to the outside. */
export interface Process {
  /** Its own connection. */
  readonly db: Database;
  readonly durable: typeof durable;
  /** Does something outside of the file, which stays done whatever becomes of the process. */
  readonly effect: (what: string, key?: string) => void;
  /** Passes a moment between two statements, which may be its last. */
  readonly moment: (name: string) => void;
}

/**
 * Runs from the beginning in every process, whatever the file already has, to the same result.
 *
 * @param told - Message of the process before, if it ended by itself.
 */
export type Live = (run: string, told?: unknown) => Promise<unknown>;

/** The result of a process that got as far as it can, with a message to the next one. */
export class Continued {
  readonly told: unknown;

  constructor(told: unknown) {
    this.told = told;
  }
}

/** How often a process dies in the short form of the tests. */
export interface Deaths {
  /** In the process of the test, at so many of its writes; `every`: at each of them. */
  readonly atWrites?: number | 'every';
  /** On which side of a write. @defaultValue both */
  readonly sides?: readonly Side[];
  /** By `kill -9`, in front of so many of its statements. */
  readonly byKill?: number;
  /** By `kill -9` at these moments, each of them once. */
  readonly atMoments?: readonly string[];
  /** By `kill -9` from outside, at any time, in so many processes of one run. */
  readonly byTheClock?: number;
}

export type Side = 'before' | 'after';

/** Where a process died; `null` for a run without a death. */
export type Place = { readonly write: number; readonly side: Side } | string | null;

/** A run whose result must not depend on where a process dies. */
export interface Scenario {
  readonly what: string;
  readonly deaths: Deaths;
  /** Fills the file in which a process dies; each of them then has a copy. @defaultValue one file for all, with a run for each */
  readonly prepare?: (process: Process) => Promise<void>;
  readonly start: (process: Process) => Live;
  /** Whether its runs can be reached through `Runs` as well. @defaultValue false */
  readonly throughRuns?: true;
  /** Which process resumes the run: a new one, or one that was open before the death. @defaultValue 'another process' */
  readonly heir?: 'another process' | 'a bystander';
  /** Reads the file after a death, before another process resumes the run. */
  readonly between?: (process: Process, run: string) => unknown;
  /** The result, the rows in the file and the effects outside of it, after a death at `place`. */
  readonly expected: (run: string, place: Place) => Left | Promise<Left>;
  /** Reads the file at the end of the run. */
  readonly inFile: (process: Process, run: string) => unknown;
  /** Judges the effects of all processes of a run. @defaultValue they are not compared */
  readonly outside?: (effects: readonly Effect[]) => unknown;
  /** Work of the bystander after all deaths. */
  readonly afterwards?: {
    readonly does: (process: Process, run: string) => Promise<unknown>;
    readonly expected: unknown;
  };
}

export interface Left {
  readonly outcome: unknown;
  readonly inFile: unknown;
  readonly outside?: unknown;
  /** The states in which the file may be right after the death; the tests must see the first one. */
  readonly between?: readonly unknown[];
}

/** Names of the effects, sorted, once for each key. */
export const onceForEachKey = (effects: readonly Effect[]): readonly string[] => {
  const done = new Map(effects.map(({ what, key }) => [`${what} ${key}`, what]));
  return [...done.values()].sort();
};

import type { Release } from './releases.ts';

/**
 * One kind of waiting: a run, how it is brought to where it waits, and how it goes on from there. Frozen with the first
 * release that has it: a kind that is changed no longer goes with the archives of earlier releases.
 */
export interface StateFileKind {
  /** The first release with an archive of it. */
  readonly since: Release;
  /** Drives a fresh run to where it waits. */
  make(dir: string): Promise<void>;
  /** Of a run that `make` has killed: what the process does that dies of it. */
  driveToDeath?(dir: string): Promise<void>;
  /** Answers what the run waits for and drives it to its end. One that has ended stays as it is. */
  resume(dir: string): Promise<Resumed>;
  /** What the first `resume` comes to. */
  readonly resumed: Resumed;
  /** Every call to the outside over `make` and `resume`, in order. */
  readonly calls: readonly string[];
  /** How a file of an earlier release differs. */
  readonly earlier?: Readonly<
    Partial<Record<Release, Partial<Resumed> & { readonly calls?: readonly string[] }>>
  >;
  /** The one of them that was in flight at the kill, and is made again under its key. */
  readonly madeAgain?: string;
}

export interface Resumed {
  /** Kinds of the gates that were open and were answered, in order. */
  readonly answered: readonly string[];
  readonly status: string;
  /** What the run has made. */
  readonly outcome: unknown;
}

import type { DurableApp } from '@devs/core';
import type { PostgresRuns } from '@devs/postgres';
import type { PagePlace } from '../project/pagePlace.ts';

export type ServedApp = DurableApp<unknown, unknown, unknown>;

/** What is served, and driven. */
export interface Served {
  /** By the names of their assistants. */
  readonly apps: Readonly<Record<string, ServedApp>>;
  /** The cluster with their runs; `null` for state files. */
  readonly runs: PostgresRuns | null;
  /** For the page; `null` where the apps have no place of their own in common. */
  readonly place: PagePlace | null;
  /** What the file says and is not used. */
  readonly notTaken: readonly string[];
  /** Agents whose calls are made again after a crash. */
  readonly unrecorded: readonly string[];
}

import type { DurableApp } from '@devs/core';
import type { PostgresRuns } from '@devs/postgres';
import type { PagePlace } from './pagePlace.ts';

export type ServedApp = DurableApp<unknown, unknown, unknown>;

/** The apps of a server, and the place of their runs. */
export interface Served {
  /** By the names of their assistants. */
  readonly apps: Readonly<Record<string, ServedApp>>;
  /** The cluster with their runs; `null` for state files. */
  readonly runs: PostgresRuns | null;
  /** For the page; `null` if the apps use several files. */
  readonly place: PagePlace | null;
  /** Members of the file that are not used. */
  readonly notTaken: readonly string[];
  /** Agents without `recordCalls()`. */
  readonly unrecorded: readonly string[];
}

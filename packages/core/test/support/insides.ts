// What tests of other packages need of core's insides: the entry for siblings is for their sources alone.
import type { Database } from 'better-sqlite3';
import { EventStore } from '../../src/state/events/EventStore.ts';
import { GitPackStore, gitRecord, PACK_PART_BYTES } from '../../src/state/GitPackStore.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { StepStore } from '../../src/state/steps/StepStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';

export { nameStateFile } from '../../src/state/moving/movedRun.ts';
export { aPlan } from '../../src/testing/fakeAgents.ts';
export { lineChanges } from '../../src/testing/MemoryWorkspace.ts';

/** The tables of an open state file. */
export const tablesOf = (db: Database) => ({
  threads: new ThreadStore(db),
  events: new EventStore(db),
  steps: new StepStore(db),
  sessions: new HitlSessionStore(db),
});

/** Git's objects of runs in an open state file that nobody else has. */
export const gitPacksOf = (db: Database) => {
  const commit = (work: () => void): void => db.transaction(work).immediate();
  const store = { db, commit, gitPacks: new GitPackStore(db), outlet: { pending: () => null } };
  return {
    ...store,
    partBytes: PACK_PART_BYTES,
    recordOf: (threadId: string) => gitRecord(threadId, store),
  };
};

import type { Database } from 'better-sqlite3';
import { onTestFinished, TestRunner } from 'vitest';
import { FileRuns } from '../../../src/engine/remote/FileRuns.ts';
import type { Runs } from '../../../src/engine/runs/Runs.ts';
import { MemoryRuns } from '../../../src/testing/MemoryRuns.ts';
import { SeenRuns } from './SeenRuns.ts';
import { WHERE } from './where.ts';

/** By the path of a test's state file; of one in memory, by its connection. */
const places = new Map<string | Database, SeenRuns>();

const keyOf = (db: Database): string | Database => (db.memory ? db : db.name);

/** The runs that a test takes to be in a state file: whoever opens that again finds the same ones. */
export function runsOf(db: Database, now: () => number): Runs | SeenRuns {
  Object.assign(TestRunner.getCurrentTest()?.meta ?? {}, { throughRuns: WHERE });
  return WHERE === 'file' ? new FileRuns(db) : (places.get(keyOf(db)) ?? newPlace(db, now));
}

function newPlace(db: Database, now: () => number): SeenRuns {
  const runs = new SeenRuns(WHERE === 'postgres' ? aCluster() : aMemory(now), db);
  places.set(keyOf(db), runs);
  onTestFinished(async () => {
    places.delete(keyOf(db));
    await runs.close();
  });
  return runs;
}

const aMemory = async (now: () => number): Promise<Runs> => new MemoryRuns({ now });

async function aCluster(): Promise<Runs> {
  const { runsOfSuites } = await import('../../../../postgres/test/support/runsOfSuites.ts');
  return runsOfSuites();
}

/**
 * Writes into the file of the run that was touched last, where tests plant what an older release or a process that is gone has
 * left there.
 */
export async function plant<T>(db: Database, work: (file: Database) => T): Promise<T> {
  const runs = places.get(keyOf(db));
  return runs === undefined ? work(db) : runs.change(work);
}

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDatabase } from '../../../src/db/createDatabase.ts';
import { Orchestrator, type OrchestratorOptions } from '../../../src/surface/Orchestrator.ts';
import { runsOf } from './places.ts';
import { WHERE } from './where.ts';

/** As `Orchestrator.open` over a folder, or through `Runs` as `durable` of this folder is. */
export async function openOrchestrator({
  dir,
  ...options
}: OrchestratorOptions & { readonly dir: string }): Promise<Orchestrator> {
  if (WHERE === 'plain') return Orchestrator.open({ dir, ...options });
  const db = createDatabase({ dbPath: join(dir, 'state.sqlite') });
  onTestFinished(() => void db.close());
  return Orchestrator.open({ ...options, runs: runsOf(db, Date.now) });
}

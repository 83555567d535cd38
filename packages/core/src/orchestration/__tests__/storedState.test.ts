import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { orchestratorConfigOf } from '../../config/orchestratorConfig.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { EventBus } from '../../events/events.ts';
import { Orchestrator } from '../../surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { orchestrationApp } from '../graph.ts';
import { storedState } from '../storedState.ts';

const ID = 'csv-export';
const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const ada = { kind: 'human', id: 'ada' } as const;

describe('storedState', () => {
  test('is what the graph tells, around every node of a run', async ({ dbPath }) => {
    const events = new EventBus();
    const devs = await Orchestrator.open({
      dir: path.dirname(dbPath),
      events,
      agents: fakeAgents(),
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
    });
    const moments: string[] = [];
    const keep = (): void => {
      const copy = `${dbPath}.${moments.length}`;
      for (const part of ['', '-wal'])
        if (existsSync(dbPath + part)) copyFileSync(dbPath + part, copy + part);
      moments.push(copy);
    };
    for (const name of ['NODE_STARTED', 'NODE_FINISHED'] as const) events.on(name, keep);
    const run = await devs.start({ id: ID, brief: BRIEF });
    keep();
    for (let { gates } = await run.resume(); gates.length > 0; { gates } = await run.resume()) {
      for (const gate of gates) await run.decide(gate, { approved: true, by: ada });
    }
    keep();
    devs.close();

    const config = orchestratorConfigOf(undefined);
    const told = new Set<string>();
    for (const copy of moments) {
      const db = createDatabase({ dbPath: copy });
      const app = orchestrationApp(null, { db, config });
      const stored = storedState(ID, internalsOf(app).store);
      if (stored === undefined) continue; // the graph is asked then
      const values = await app.values(ID);
      expect(stored).toEqual(values);
      expect(Object.keys(stored ?? {})).toEqual(Object.keys(values ?? {}));
      told.add(stored === null ? 'nothing yet' : stored.status);
      db.close();
    }
    expect(told).toContain('nothing yet');
    expect(told).toContain('implementing');
    expect([...told].at(-1)).toBe('completed');
  });

  test.for([
    ['a write that is in no checkpoint yet', { channel: 'status', type: 'plain' }, false],
    ['an answer that waits for its node', { channel: '__resume__', type: 'plain' }, true],
    ['a question, whatever it shows', { channel: '__interrupt__', type: 'tagged' }, true],
  ] as const)('with %s', async ([, { channel, type }, isTold], { dbPath }) => {
    const devs = await Orchestrator.open({ dir: path.dirname(dbPath) });
    const run = await devs.start({ id: ID, brief: BRIEF });
    await run.resume();
    devs.close();
    const db = createDatabase({ dbPath });
    const { store } = internalsOf(orchestrationApp(null, { db, config: orchestratorConfigOf(undefined) }));
    const latest = store.checkpoints.loadLatest({ threadId: ID, checkpointNs: '' });
    if (latest === null) throw new Error('There is no checkpoint.');
    const value = { type, bytes: Buffer.from('"planning"') };
    store.checkpoints.saveWrites(latest, [{ taskId: 'task', idx: 7, taskPath: '', channel, value }]);
    expect(storedState(ID, store)?.status).toBe(isTold ? 'specifying' : undefined);
    db.close();
  });
});

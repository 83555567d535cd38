import { spawnSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { CheckpointPersister } from '../../src/state/CheckpointPersister.ts';
import { test } from '../support/fixtures.ts';
import { programFile } from '../support/programFile.ts';

const child = new URL('killBetweenTurns.child.ts', import.meta.url);

describe('crash between Thought and Action', () => {
  test('the Thought survives SIGKILL and is what a restart resumes from', ({ dbPath }) => {
    const died = spawnSync(process.execPath, [programFile(child), dbPath], { encoding: 'utf8' });
    expect(died.signal, died.stderr).toBe('SIGKILL'); // otherwise nothing was tried

    const db = createDatabase({ dbPath });
    const turns = new CheckpointPersister(db);
    expect(turns.loadForTask('task-1').map(({ id }) => id)).toEqual(['thought']);
    expect(turns.loadLatest('graph-1')).toMatchObject({
      turnType: 'Thought',
      state: { plan: 'x'.repeat(20_000) },
    });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
  });
});

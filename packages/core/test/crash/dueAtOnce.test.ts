import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { napping } from './napping.ts';

describe('several processes that drive what is due', () => {
  test('drive each run once', async ({ dbPath }) => {
    const now = Date.UTC(2026, 0, 2);
    const ids = Array.from({ length: 30 }, (_, index) => `run-${index}`);
    const app = napping(dbPath, () => now);
    for (const id of ids) await app.run(id, {});
    const start = join(dirname(dbPath), 'start');
    const workers = [1, 2, 3].map(() =>
      spawnProgram('packages/core/test/crash/dueAtOnce.child.ts', [dbPath, start, String(now + 3_600_000)]),
    );
    await Promise.all(
      workers.map(({ child }) => new Promise((resolve) => child.stdout?.once('data', resolve))),
    );
    writeFileSync(start, '');
    const ended = await Promise.all(workers.map(({ finished }) => finished));
    const driven = ended.map(({ stdout, stderr }) => {
      expect(stderr).toBe('');
      return JSON.parse(stdout.split('\n')[1] ?? '[]') as readonly string[];
    });
    expect(driven.flat().sort()).toEqual(ids.map((id) => `${id} completed`).sort());
    expect(driven.filter(({ length }) => length > 0).length).toBeGreaterThan(1);
    const fired = internalsOf(app)
      .store.db.prepare("SELECT count(*) FROM events WHERE name = 'TIMER_FIRED'")
      .pluck()
      .get();
    expect(fired).toBe(ids.length);
    app.close();
  });
});

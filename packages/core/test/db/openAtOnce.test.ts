import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { test } from '../support/fixtures.ts';
import { programFile } from '../support/programFile.ts';

const child = new URL('openAtOnce.child.ts', import.meta.url);
const PROCESSES = 8;

interface Opener {
  readonly process: ChildProcess;
  readonly ready: Promise<unknown>;
  /** Exit code and what was written to stderr. */
  readonly ended: Promise<readonly [number | null, string]>;
}

function startOpener(dbPath: string, startFile: string, name: string): Opener {
  const opener = spawn(process.execPath, [programFile(child), dbPath, startFile, name]);
  let stderr = '';
  opener.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return {
    process: opener,
    ready: once(opener.stdout, 'data'),
    ended: once(opener, 'close').then(([code]) => [code as number | null, stderr]),
  };
}

describe('a fresh state file', () => {
  test('may be opened by eight processes at once', async ({ dbPath }) => {
    const startFile = join(dirname(dbPath), 'start');
    const openers = Array.from({ length: PROCESSES }, (_, n) =>
      startOpener(dbPath, startFile, `opener-${n}`),
    );
    await Promise.all(openers.map(({ ready }) => ready));
    writeFileSync(startFile, '');
    const ends = await Promise.all(openers.map(({ ended }) => ended));
    expect(ends).toEqual(Array.from({ length: PROCESSES }, () => [0, '']));

    const db = createDatabase({ dbPath });
    expect(db.prepare('SELECT count(DISTINCT name) FROM events').pluck().get()).toBe(PROCESSES);
    expect(db.prepare('SELECT count(*) FROM schema_migrations').pluck().get()).toBe(MIGRATIONS.length);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    db.close();
  });
});

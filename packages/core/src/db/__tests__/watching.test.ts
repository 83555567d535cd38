import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { programFile } from '../../../test/support/programFile.ts';

describe('a process that listens for news of a state file', () => {
  test('keeps its locks when it stops, and ends although it listens', async ({ db, dbPath }) => {
    const program = programFile(new URL('watching.child.ts', import.meta.url));
    const child = spawn(process.execPath, [program, dbPath], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    db.pragma('busy_timeout = 0');
    expect(() => db.exec('BEGIN IMMEDIATE')).toThrow(/locked/);
    child.stdin.write('let go\n');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    db.exec('BEGIN IMMEDIATE');
    db.exec('ROLLBACK');
  });
});

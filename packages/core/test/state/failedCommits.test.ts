import { execFile, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';
import { tried } from '../support/tried.ts';
import { CONFIG, checkpointAt } from './ackedCheckpoints.ts';
import type { FailedCommits } from './failedCommits.child.ts';

// A failed COMMIT is "unknown", not "no": with a failed flush it may be on the disk all the same. Real faults of the
// operating system, on Linux; fileFaults.test.ts has the same question everywhere, with faults that are thrown.

const FAULTS = howMany('DEVS_FAILED_COMMITS', 10);
const child = new URL('failedCommits.child.ts', import.meta.url);
const run = promisify(execFile);

/** What lets a commit fail, and whether it is on the disk then. */
const RIGS = [
  { device: '/dev/full', command: [], fault: 'STATE_DISK_FULL SQLITE_FULL', onDisk: false },
  { device: '/dev/null', command: [], fault: 'STATE_IO SQLITE_IOERR_FSYNC', onDisk: false },
  // Every second flush of the log fails after the log was written; the first ones belong to opening the file.
  {
    device: 'traced',
    command: ['strace', '-qq', '-o', '/dev/null', '-e', 'inject=fsync,fdatasync:error=EIO:when=5+2', '-P'],
    fault: 'STATE_IO SQLITE_IOERR_FSYNC',
    onDisk: true,
  },
] as const;

function isInstalled({ command: [program] }: (typeof RIGS)[number]): boolean {
  return program === undefined ? existsSync('/proc/self/fd') : spawnSync(program, ['true']).status === 0;
}

const INSTALLED = RIGS.filter(isInstalled);
const LEFT_OUT = RIGS.filter((rig) => !INSTALLED.includes(rig)).map(({ device }) => device);
const here = LEFT_OUT.length === 0 ? '' : ` (left out on this machine: ${LEFT_OUT.join(', ')})`;

describe(`a commit that fails in the operating system, ${FAULTS} times${here}`, () => {
  test.for(INSTALLED)(
    'is refused, and can be repeated: $device, on the disk: $onDisk',
    {
      timeout: 60_000,
    },
    async ({ device, command, fault, onDisk }, { annotate, dbPath, task }) => {
      createDatabase({ dbPath }).close();
      const bundle = programFile(child);
      const file = join(realpathSync(dirname(dbPath)), basename(dbPath));
      const traced = command.length === 0 ? [] : [...command, `${file}-wal`];
      const [program = '', ...args] = [
        ...traced,
        process.execPath,
        bundle,
        file,
        device,
        fault,
        String(FAULTS),
      ];
      const found: FailedCommits = JSON.parse((await run(program, args)).stdout);
      await annotate(JSON.stringify({ device, ...found }));

      const hits = found.faults[fault] ?? 0;
      tried(task, { ways: hits });
      expect(hits).toBeGreaterThanOrEqual(FAULTS);
      expect(found.onDisk).toBe(onDisk ? hits : 0);
      expect(found.readable).toBe(0);
      const db = createDatabase({ dbPath });
      for (const table of ['checkpoints', 'checkpoint_writes']) {
        const perCheckpoint = table === 'checkpoints' ? 1 : 2;
        expect(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()).toBe(
          found.checkpoints * perCheckpoint,
        );
      }
      const latest = await new SqliteSaver(db).getTuple(CONFIG);
      expect(latest?.checkpoint).toEqual(checkpointAt(found.checkpoints).checkpoint);
      expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
      db.close();
    },
  );
});

import { execFileSync } from 'node:child_process';
import type { Prepared } from './subjects.ts';

// A frame of the write-ahead log that ends a transaction holds the size of the database, any other holds 0.
const COUNT = `
  const wal = require('node:fs').readFileSync(process.argv[1]);
  const frame = 24 + wal.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) > 0) commits += 1;
  process.stdout.write(String(commits));`;

/**
 * Transactions a run has committed, counted in the write-ahead log, where each leaves one frame that ends it. The log
 * is kept whole meanwhile, and another process reads it: reading it here would drop SQLite's locks.
 */
export async function countCommits({ db, run }: Prepared): Promise<number> {
  if (db === null) return 0;
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('wal_checkpoint(TRUNCATE)');
  await run();
  return Number(execFileSync(process.execPath, ['-e', COUNT, `${db.name}-wal`], { encoding: 'utf8' }));
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';

const reader = fileURLToPath(new URL('poll.child.ts', import.meta.url));

/** The largest write-ahead log, in bytes, while 100 KB values are committed and two processes read every 20 ms. */
export async function walUnderReaders(folder: string, commits: number): Promise<number> {
  const dbPath = join(folder, 'wal.sqlite');
  const db = createDatabase({ dbPath, synchronous: 'normal' });
  const saver = new SqliteSaver(db);
  const args = ['--conditions=@devs/source', '--import', 'tsx', reader, dbPath];
  const readers = [1, 2].map(() => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  await Promise.all(readers.map(({ stdout }) => once(stdout, 'data')));
  const value = Buffer.alloc(75_000);
  let config: Parameters<SqliteSaver['put']>[0] = { configurable: { thread_id: 'bench' } };
  let largest = 0;
  for (let step = 0; step < commits; step += 1) {
    crypto.getRandomValues(value.subarray(0, 65_536));
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(0),
      channel_values: { text: value.toString('base64') },
    };
    const versions = { text: step + 1 };
    const metadata = { source: 'loop', step, parents: {} } as const;
    config = await saver.put(config, { ...checkpoint, channel_versions: versions }, metadata, versions);
    largest = Math.max(largest, statSync(`${dbPath}-wal`).size);
  }
  for (const child of readers) child.kill();
  db.close();
  return largest;
}

// Puts checkpoints on top of what the file holds, and says so on stdout after each was acknowledged, until it is killed.
// Waits for a line on stdin first, so that loading is not what is killed.
import { writeSync } from 'node:fs';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { CONFIG, checkpointAt, METADATA, writesAt } from './ackedCheckpoints.ts';

const [dbPath = ''] = process.argv.slice(2);
// Synchronous, so that a line that was written has left the process before it can be killed.
const say = (text: string): void => {
  writeSync(1, `${text}\n`);
};

say('loaded');
await new Promise((resolve) => process.stdin.once('data', resolve));
const saver = new SqliteSaver(createDatabase({ dbPath }));
const latest = await saver.getTuple(CONFIG);
let config = latest?.config ?? CONFIG;
for (let at = Number(latest?.checkpoint.id ?? 0) + 1; ; at += 1) {
  const { checkpoint, newVersions } = checkpointAt(at);
  config = await saver.put(config, checkpoint, METADATA, newVersions);
  say(`put ${at}`);
  await saver.putWrites(config, writesAt(at), `task-${at}`);
  say(`writes ${at}`);
}

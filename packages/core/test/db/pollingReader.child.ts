// Reads the newest checkpoint and its value again and again, as a viewer does, and says how often. Ends only when killed.
import { createDatabase } from '../../src/db/createDatabase.ts';
import { GraphCheckpointStore } from '../../src/state/checkpoints/GraphCheckpointStore.ts';

const [, , dbPath = '', threadId = '', pauseMs = ''] = process.argv;
const db = createDatabase({ dbPath });
const store = new GraphCheckpointStore(db);
const key = { threadId, checkpointNs: '' };

const poll = db.transaction(() => {
  const newest = store.loadLatest(key)?.checkpointId;
  return newest === undefined ? null : store.loadChannel(key, { channel: 'value', version: newest });
});

const nap = new Int32Array(new SharedArrayBuffer(4));
for (let polls = 1; ; polls += 1) {
  poll.deferred();
  process.stdout.write(`${polls}\n`);
  Atomics.wait(nap, 0, 0, Number(pauseMs));
}

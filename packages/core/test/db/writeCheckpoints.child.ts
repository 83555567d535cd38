// Claims the run, commits checkpoints one by one and says after each that it is committed. Ends only when killed.
import { randomBytes } from 'node:crypto';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { GraphCheckpointStore } from '../../src/state/checkpoints/GraphCheckpointStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';

const [, , dbPath = '', threadId = '', valueBytes = '', pauseMs = ''] = process.argv;
const db = createDatabase({ dbPath });
const store = new GraphCheckpointStore(db);
const key = { threadId, checkpointNs: '' };

const commit = db.transaction((version: string) => {
  const bytes = new Uint8Array(randomBytes(Number(valueBytes)));
  const json = (value: object) => ({
    type: 'json',
    bytes: new Uint8Array(Buffer.from(JSON.stringify(value))),
  });
  const checkpoint = json({ channel_versions: { value: version } });
  store.saveChannels(key, [{ channel: 'value', version, value: { type: 'bytes', bytes } }]);
  store.saveCheckpoint({ ...key, checkpointId: version, parentId: null, checkpoint, metadata: json({}) }, [
    { channel: 'value', version },
  ]);
});

new ThreadStore(db).claim(threadId);
const nap = new Int32Array(new SharedArrayBuffer(4));
for (let version = 1; ; version += 1) {
  commit.immediate(String(version));
  process.stdout.write(`${version}\n`);
  if (pauseMs !== '0') Atomics.wait(nap, 0, 0, Number(pauseMs));
}

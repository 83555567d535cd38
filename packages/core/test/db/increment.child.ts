// When told to, raises a counter in transactions that read before they write, and sends a signal to a run now and then.
import { createInterface } from 'node:readline';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { transaction } from '../../src/db/prepare.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';

const [, , dbPath = '', threadId = '', name = '', times = ''] = process.argv;
// Writers without a pause between them: SQLite's queue is not fair, and the default wait is meant for less.
const db = createDatabase({ dbPath, busyTimeoutMs: 60_000 });
const threads = new ThreadStore(db);
const select = db.prepare<[], number>('SELECT n FROM counter').pluck();
const update = db.prepare<[number]>('UPDATE counter SET n = ?');
const increment = () => update.run((select.get() ?? 0) + 1);
const tell = (message: unknown): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

tell('ready');
for await (const _ of createInterface({ input: process.stdin })) {
  for (let n = 0; n < Number(times); n += 1) {
    transaction(db, 'immediate', increment);
    if (n % 5 === 0) threads.signal(threadId, { id: `${name}-${n}`, kind: 'pause', payload: {} });
  }
  tell('done');
}

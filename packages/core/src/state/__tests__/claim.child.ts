// Claims the run it is told to, on every line it reads, and stays alive holding what it got; `release` gives it back,
// which no other process can.
import { createInterface } from 'node:readline';
import { createDatabase } from '../../db/createDatabase.ts';
import { type Lease, ThreadStore } from '../ThreadStore.ts';

const [, , dbPath = '', threadId = ''] = process.argv;
const threads = new ThreadStore(createDatabase({ dbPath }));
const tell = (message: object): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

tell({ kind: 'ready' });
let lease: Lease | null = null;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'release' && lease !== null) {
    threads.release(lease);
    tell({ kind: 'released' });
  } else {
    const result = threads.claim(threadId);
    if (result.kind === 'claimed') ({ lease } = result);
    tell(result);
  }
}

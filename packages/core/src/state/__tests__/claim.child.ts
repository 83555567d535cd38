// Claims the run it is told to, on every line it reads, and stays alive holding what it got.
import { createInterface } from 'node:readline';
import { createDatabase } from '../../db/createDatabase.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';

const [, , dbPath = '', threadId = ''] = process.argv;
const threads = new ThreadStore(createDatabase({ dbPath }));
const tell = (message: object): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

tell({ kind: 'ready' });
for await (const _ of createInterface({ input: process.stdin })) tell(threads.claim(threadId));

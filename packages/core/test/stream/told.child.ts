// Drives or reads one run and prints each event it is given, a JSON line each.
//
//   told.child.ts drive FILE RUN WHERE N   killed at the N-th moment of a kind: `append`, in the transaction of an event;
//                                          `commit`, right after it; `never`
//   told.child.ts read FILE RUN AFTER N    stops after N events
import { writeSync } from 'node:fs';
import { RunStreams } from '../../src/engine/stream/RunStreams.ts';
import { StreamStore } from '../../src/state/events/StreamStore.ts';
import { toldApp } from './toldApp.ts';

const [what, file = '', run = '', where = '', number = ''] = process.argv.slice(2);
const options = { streamMode: ['updates', 'values', 'custom'], subgraphs: true } as const;
const app = toldApp(file);

if (what === 'drive') {
  let moments = 0;
  const dieAt = (kind: string): void => {
    if (kind !== where) return;
    moments += 1;
    if (moments === Number(number)) process.kill(process.pid, 'SIGKILL');
  };
  const { append } = StreamStore.prototype;
  StreamStore.prototype.append = function dying(...args): boolean {
    const isNew = append.apply(this, args);
    dieAt('append');
    return isNew;
  };
  const { wake } = RunStreams.prototype;
  RunStreams.prototype.wake = function dying(threadId): void {
    dieAt('commit');
    wake.call(this, threadId);
  };
}

let given = 0;
const events =
  what === 'drive'
    ? app.stream(run, { log: [] }, { ...options, after: 0 })
    : app.stream(run, null, { ...options, after: Number(where) });
for await (const event of events) {
  writeSync(1, `${JSON.stringify(event)}\n`);
  given += 1;
  if (what === 'read' && given === Number(number)) break;
}
app.close();

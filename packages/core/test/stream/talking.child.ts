// Drives one run, prints each event it is given, a JSON line each, and is killed once the N-th word of a model was printed:
//
//   talking.child.ts FILE LEDGER RUN WHERE N   at once (`word`), as the next writes of a task are to be recorded (`putWrites`),
//                                              or as the next checkpoint is (`put`)
import { writeSync } from 'node:fs';
import { DrivenSaver } from '../../src/engine/saver/DrivenSaver.ts';
import { talkingApp } from './talkingApp.ts';

const [file = '', ledger = '', run = '', where = '', number = ''] = process.argv.slice(2);
let words = 0;

const dieAt = (place: string): void => {
  if (place === where && words >= Number(number)) process.kill(process.pid, 'SIGKILL');
};

for (const method of ['put', 'putWrites'] as const) {
  const whole = DrivenSaver.prototype[method] as (...args: unknown[]) => unknown;
  DrivenSaver.prototype[method] = function dying(this: DrivenSaver, ...args: unknown[]): never {
    dieAt(method);
    return whole.apply(this, args) as never;
  };
}

const app = talkingApp(file, ledger);
for await (const event of app.stream(run, {}, { streamMode: ['messages', 'updates', 'values'] })) {
  writeSync(1, `${JSON.stringify(event)}\n`);
  if (event.mode === 'messages') words += 1;
  dieAt('word');
}
app.close();

// Drives the run of a folder, or decides its open gates. Argument: ProgramOptions as JSON.
// Prints "ready" once loaded (from here on a kill counts), then one line of JSON: an Outcome, or how many gates it decided.
// Every event is a line in acks.log: the engine publishes after commit, so the file must hold each of them for ever.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDevsError } from '@devs/core';
import { openSubject, type Subject, type SubjectOptions } from './subject.ts';

interface ProgramOptions extends SubjectOptions {
  readonly role: 'drive' | 'decide';
}

const { role, ...options } = JSON.parse(process.argv[2] ?? '{}') as ProgramOptions;

/** How many of the open gates this process decided; another one may win. */
async function decide(subject: Subject): Promise<number> {
  let decided = 0;
  for (const gate of await subject.gates()) {
    try {
      await subject.decide(gate);
      decided += 1;
    } catch (error) {
      if (!isDevsError(error, 'GATE_ALREADY_DECIDED')) throw error;
    }
  }
  return decided;
}

process.stdout.write('ready\n');
const subject = await openSubject(options);
subject.events.onAny((name, payload) => {
  appendFileSync(join(options.dir, 'acks.log'), `${JSON.stringify([name, payload])}\n`);
});
const result = role === 'drive' ? await subject.drive() : await decide(subject);
subject.close();
process.stdout.write(`${JSON.stringify(result)}\n`);

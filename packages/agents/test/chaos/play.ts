import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDevsError } from '@devs/core';
import { type Outcome, openSubject, type Subject, type SubjectOptions } from './subject.ts';

export interface Role extends SubjectOptions {
  readonly role: 'drive' | 'decide';
}

/**
 * Drives the run of a folder, or decides its open gates. Every event is a line in acks.log: the engine publishes after
 * commit, so the file must hold each of them for ever.
 *
 * @returns How the drive ended, or how many gates were decided.
 */
export async function play({ role, ...options }: Role): Promise<Outcome | number> {
  const subject = await openSubject(options);
  subject.events.onAny((name, payload) => {
    appendFileSync(join(options.dir, 'acks.log'), `${JSON.stringify([name, payload])}\n`);
  });
  const result = role === 'drive' ? await subject.drive() : await decide(subject);
  await subject.close();
  return result;
}

/** How many of the open gates were decided here; another process may win. */
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

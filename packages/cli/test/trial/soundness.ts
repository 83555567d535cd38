import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Job, rightWork, specialWork, testOf, wrongWork } from './Job.ts';
import type { Files, Repository } from './Repository.ts';
import { ranIn } from './ranIn.ts';
import type { Toolbox } from './Toolbox.ts';
import { trialCheckout } from './TrialCheckout.ts';

/**
 * Whether a trial in this repository can tell anything: its check is green before, red with the new test alone and with
 * wrong code, green with the right code and with code that knows the test.
 *
 * @returns what is not so; empty: sound.
 */
export async function unsound(repository: Repository, tools: Toolbox): Promise<readonly string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-sound-'));
  try {
    const { user, base, setup, check } = await trialCheckout(dir, { repository, agent: 'refusal', tools });
    const prepared = await ranIn(user.root, setup);
    if (prepared.status !== 0) return [`setup fails: ${prepared.output}`];
    const job: Job = { repository, base, isChore: false };
    const test = { [repository.feature.test]: testOf(job) };
    const write = (files: Files): void => {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(user.root, path)), { recursive: true });
        writeFileSync(join(user.root, path), content ?? '');
      }
    };
    const states: readonly (readonly [what: string, files: Files, isGreen: boolean])[] = [
      ['as it is', {}, true],
      ['with the new test', test, false],
      ['with wrong code', wrongWork(job), false],
      ['with code that knows the test', specialWork(job), true],
      ['with the right code', rightWork(job), true],
    ];
    const why: string[] = [];
    for (const [what, files, isGreen] of states) {
      write(files);
      const { status, output } = await ranIn(user.root, check);
      if ((status === 0) !== isGreen)
        why.push(`${repository.name} ${what} is ${isGreen ? 'red' : 'green'}: ${output.slice(-1500)}`);
    }
    return why;
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LOCAL_REPOSITORIES } from './combinations.ts';
import { type Job, rightWork, specialWork, testOf, wrongTestOf, wrongWork } from './Job.ts';
import { judge } from './judge.ts';
import type { Files, Repository } from './Repository.ts';
import { LOCAL } from './Toolbox.ts';
import { trialCheckout } from './TrialCheckout.ts';

const repository = LOCAL_REPOSITORIES.find(({ name }) => name === 'node-test') as Repository;

/** What the judge says of a branch with this work. */
async function judged(work: (job: Job) => Files): Promise<readonly string[]> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-judge-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const checkout = await trialCheckout(dir, { repository, agent: 'refusal', tools: LOCAL });
  const job: Job = { repository, base: checkout.base, isChore: false };
  const { user } = checkout;
  user.change(() => {
    user.git('checkout', '-q', '-b', 'work');
    for (const [path, content] of Object.entries(work(job))) {
      mkdirSync(dirname(join(user.root, path)), { recursive: true });
      writeFileSync(join(user.root, path), content ?? '');
    }
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'Work');
    user.git('checkout', '-q', 'main');
  });
  const { commits, wrong } = await judge(job, checkout, { branch: 'work', dir });
  expect(commits).toBe(1);
  return wrong;
}

const { test: path } = repository.feature;
const right = (job: Job): Files => ({ ...rightWork(job), [path]: testOf(job) });

test('right work has nothing against it', async () => {
  expect(await judged(right)).toEqual([]);
});

test.for<readonly [string, (job: Job) => Files, RegExp]>([
  ['code that does not do it', (job) => ({ ...right(job), ...wrongWork(job) }), /is wrong/],
  [
    'code that knows the test alone',
    (job) => ({ ...right(job), ...specialWork(job) }),
    /One, two: three!.*is wrong/,
  ],
  [
    'a test that asserts what is wrong',
    (job) => ({ ...right(job), [path]: wrongTestOf(job) }),
    /not the right test/,
  ],
  [
    'a skipped test',
    (job) => ({ ...right(job), [path]: testOf(job, { isSkipped: true }) }),
    /not the right test/,
  ],
  [
    'an emptied test of the repository',
    (job) => ({ ...right(job), [repository.ownTest]: repository.dialect.empty }),
    /words\.test\.js was changed/,
  ],
  [
    'a check that checks nothing',
    (job) => ({ ...right(job), 'package.json': '{ "type": "module", "scripts": { "test": "true" } }\n' }),
    /package\.json was changed/,
  ],
])('%s is found', async ([, work, why]) => {
  expect((await judged(work)).join('\n')).toMatch(why);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gate } from '@devs/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { ADA, git, openProject } from './rewoundRun.ts';

/** As far as it is read here. */
interface CodeReview {
  readonly tasks: readonly { readonly commit: string | null }[];
  readonly range: { readonly commits: readonly { readonly sha: string }[] };
}

let dir: string;
let user: UserCheckout;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-synced-'));
  user = UserCheckout.create(dir);
  user.git('commit', '-q', '--allow-empty', '-m', 'First');
});

afterEach(() => {
  user.assertUntouched();
  rmSync(dir, { recursive: true, force: true });
});

it('shows code that was approved before a sync again, under the commit it has now', async () => {
  const devs = await openProject({ dir, shape: { a: [] }, repository: dir });
  const gates = { design: 'auto', dag: 'auto' } as const;
  const run = await devs.start({ id: 'r', brief: '# B', gates, review: 'task' });
  const [gate] = (await run.resume()).gates as readonly [Gate];
  const { tasks: before } = gate.artifact as CodeReview;
  user.git('commit', '-q', '--allow-empty', '-m', 'Second');
  await run.sync({ by: ADA });
  await run.decide(gate, { approved: true, by: ADA });

  const [again] = (await run.resume()).gates as readonly [Gate];
  const { tasks, range } = again.artifact as CodeReview;
  expect(tasks).toMatchObject([{ taskId: 'r:1', commit: git(dir, 'rev-parse', 'devs/r') }]);
  expect(range.commits.at(-1)?.sha).toBe(tasks[0]?.commit);
  expect(tasks[0]?.commit).not.toBe(before[0]?.commit);
  await run.decide(again, { approved: true, by: ADA });
  expect(await run.resume()).toMatchObject({ status: 'completed' });
  devs.close();
});

import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { driveOnce, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { Resumed, StateFileKind } from '../StateFileKind.ts';

/** As a user has it: a commit, a file that can be executed, and a link. */
function makeRepository(dir: string): void {
  execFileSync('git', ['init', '-q', '-b', 'main', '--template=', dir]);
  const user = UserCheckout.at(dir);
  user.write('bin/greet', '#!/bin/sh\necho hello\n', 0o755);
  user.change(() => symlinkSync('greet', join(dir, 'bin', 'hello')));
  user.git('add', '-A');
  user.git('commit', '-q', '-m', 'Begin');
}

const open = async (dir: string) =>
  (await openPipeline(dir, { tasks: 2, review: 'task', isRepository: true })).opened;

async function resume(dir: string): Promise<Resumed> {
  const user = UserCheckout.at(dir);
  const { outcome, ...resumed } = await resumeRun(await open(dir), { approved: true });
  const delivered = user.git('log', '--format=%s', '--reverse', 'devs/run').trim().split('\n');
  return { ...resumed, outcome: { ...(outcome as object), delivered } };
}

/** Waits for a human to approve the code of the first of two tasks, in a run on the repository of a user. */
export const code: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    makeRepository(dir);
    await driveOnce(await open(dir));
  },
  resume,
  resumed: {
    answered: ['review', 'review'],
    status: 'completed',
    outcome: { ...doneTasks({ T1: 1, T2: 1 }), delivered: ['Begin', 'T1', 'T2'] },
  },
  calls: [...PLANNING, ...turnOf('T1'), ...turnOf('T2')],
};

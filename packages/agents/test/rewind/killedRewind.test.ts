import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { spawnProgram } from '../../../core/test/support/spawnTs.ts';
import { ADA, git, openProject, start, statuses, THREE } from './rewoundRun.ts';

/** Spread evenly over everything a rewind writes. */
const KILLS = howMany('DEVS_REWIND_KILLS', 1);

const root = mkdtempSync(join(tmpdir(), 'devs-killed-rewind-'));
const finished = join(root, 'finished');
let writes = 0;

const rewind = (dir: string, killAt: number) =>
  spawnProgram('packages/agents/test/rewind/rewind.child.ts', [dir, String(killAt)]).finished;

/** A copy of a run that has ended, with `a`, and `b` that follows it, and `c` that stands alone. */
function copyOfFinished(name: string): string {
  const dir = join(root, name);
  cpSync(finished, dir, { recursive: true });
  return dir;
}

beforeAll(async () => {
  const devs = await openProject({ dir: finished, shape: THREE });
  expect((await (await start(devs)).resume()).status).toBe('completed');
  devs.close();
  const { code, stdout, stderr } = await rewind(copyOfFinished('reference'), 0);
  expect(code, stderr).toBe(0);
  writes = Number(stdout);
}, 120_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Goes on with a run whose rewind was killed, as a person would; what is done anew differs from what was there. */
async function goOn(dir: string) {
  const write = async (name: string) => [{ path: `${name}.txt`, content: `${name} again\n` }];
  const devs = await openProject({ dir, shape: THREE, write });
  const run = await devs.run('r');
  const isRecorded = (await run.status()).rewinds.length === 1;
  const torn = await statuses(run);
  expect(torn).toEqual({ a: 'completed', b: isRecorded ? 'pending' : 'completed', c: 'completed' });
  if (!isRecorded) await run.rewind('T1', { by: ADA });
  const { status, commits } = await run.resume();
  const outcome = {
    status,
    subjects: commits.map(({ subject }) => subject),
    rewinds: (await run.status()).rewinds.map(({ state }) => state),
    tasks: await statuses(run),
    isSound: (await devs.verify()).ok,
  };
  devs.close();
  return outcome;
}

describe('a rewind, killed with -9', () => {
  test.concurrent.for(Array.from({ length: KILLS }, (_, at) => (at + Math.random()) / KILLS))(
    'at %f of what it writes is done or not begun, and the run ends as if nothing had happened',
    { timeout: 120_000 },
    async (share) => {
      const killAt = 1 + Math.floor(share * writes);
      const dir = copyOfFinished(`kill-${share}`);
      const { signal } = await rewind(dir, killAt);
      expect(signal).toBe('SIGKILL');

      expect(await goOn(dir), `killed before write ${killAt} of ${writes}`).toEqual({
        status: 'completed',
        subjects: ['a', 'b', 'c', 'Go back to the end of T1', 'b'],
        rewinds: ['done'],
        tasks: { a: 'completed', b: 'completed', c: 'completed' },
        isSound: true,
      });
      const texts = ['a', 'b', 'c'].map((name) =>
        readFileSync(join(dir, '.devs-work', 'r', `${name}.txt`), 'utf8'),
      );
      expect(texts).toEqual(['a 1\n', 'b again\n', 'c 1\n']);
      expect(git(dir, 'status', '--porcelain')).toBe('');
      expect(git(dir, 'fsck', '--no-dangling', '--connectivity-only')).toBe('');
    },
  );
});

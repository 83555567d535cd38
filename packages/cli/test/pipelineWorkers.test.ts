import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import type { Worker } from '@devs/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnProgram, type TsProcess } from '../../core/test/support/spawnTs.ts';
import { type PostgresServer, startPostgres } from '../../postgres/test/support/startPostgres.ts';
import { type PipelineMachine, pipelineMachine, workingIn } from './support/pipelineMachine.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const GATES = { design: 'auto', dag: 'auto' } as const;

let root: string;
let repository: string;
let server: PostgresServer;
let alone: readonly string[];

const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

const delivered = (id: string): readonly string[] =>
  git('-C', join(root, 'origin.git'), 'log', '--reverse', '--format=%T %s', `main..devs/${id}`).split('\n');

/** A folder of a machine, with a home of its own. */
function folder(name: string): string {
  const dir = join(root, name, 'project');
  mkdirSync(dir, { recursive: true });
  return dir;
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'devs-workers-'));
  const seed = join(root, 'seed');
  git('init', '-q', '-b', 'main', seed);
  writeFileSync(join(seed, 'a.txt'), 'a\n');
  git('-C', seed, 'add', '.');
  git('-C', seed, '-c', 'user.name=ada', '-c', 'user.email=ada@localhost', 'commit', '-q', '-m', 'First');
  git('clone', '-q', '--bare', seed, join(root, 'origin.git'));
  repository = `file://${join(root, 'origin.git')}`;
});

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

it('one machine alone makes a commit of each task', async () => {
  const dir = folder('alone');
  const devs = await Orchestrator.open({ dir: join(dir, '.devs'), ...workingIn(dir, repository) });
  await (await devs.start({ id: 'alone', brief: BRIEF, gates: GATES })).resume();
  devs.close();
  alone = delivered('alone');
  expect(alone).toHaveLength(2);
});

describe('two workers in two folders that share PostgreSQL and a repository', () => {
  let two: PipelineMachine;

  beforeAll(async () => {
    two = await pipelineMachine({ url: server.url, dir: folder('two'), repository });
    await two.devs.start({ id: 'csv-export', brief: BRIEF, gates: GATES });
  });

  afterAll(() => two.runs.close());

  it('the first one drives a run into its second task, and is killed there', async () => {
    const args = [server.url, folder('one'), repository];
    const { child, finished } = spawnProgram('packages/cli/test/support/pipelineWorker.child.ts', args, {
      HOME: join(root, 'one'),
    });
    try {
      await Promise.race([once(child.stdout ?? child, 'data'), ended(finished)]);
    } finally {
      child.kill('SIGKILL');
      await finished;
    }
    rmSync(join(root, 'one'), { recursive: true, force: true });
    expect((await (await two.devs.run('csv-export')).status()).status).toBe('running');
  });

  it('the other one takes it over, and comes to the commits of one machine', async () => {
    const worker = await settledBy(two);
    await worker.stop({ drainMs: 0 });
    expect((await (await two.devs.run('csv-export')).status()).status).toBe('completed');
    expect(delivered('csv-export')).toEqual(alone);
  });
});

/** Works until a run has been let go of. */
async function settledBy({ devs, runs }: PipelineMachine): Promise<Worker> {
  const drivers = [await devs.driver()];
  let settle = (): void => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const worker = await runs.work({ drivers, slots: 1, onEvent: ({ is }) => is === 'settled' && settle() });
  await settled;
  return worker;
}

/** A child that says nothing before it ends has failed. */
async function ended(finished: TsProcess['finished']): Promise<never> {
  throw new Error(`The worker has ended: ${(await finished).stderr}`);
}

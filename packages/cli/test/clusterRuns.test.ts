import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate, RunStatus } from '@devs/core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';

let cluster: Cluster;
const env = (): Readonly<Record<string, string>> => ({ DEVS_DATABASE_URL: cluster.server.url });
beforeAll(async () => {
  cluster = await startCluster();
  await callMain('/', ['migrate'], { env: env() });
});
afterAll(() => cluster.stop());

const local = (dir: string, ...argv: readonly string[]) => callMain(dir, argv);
const there = (dir: string, ...argv: readonly string[]) => callMain(dir, argv, { env: env() });

/** What every reading verb says of the run, as people and as programs are told. */
async function told(dir: string, call: typeof local): Promise<Readonly<Record<string, string>>> {
  const verbs = [
    ['status', 'sum'],
    ['status'],
    ['gates'],
    ['gates', '--all'],
    ['show', 'sum'],
    ['log', 'sum'],
    ['docs', 'sum'],
    ['explain', 'sum'],
  ];
  const entries: (readonly [string, string])[] = [];
  for (const verb of verbs) {
    for (const words of [verb, [...verb, '--json']]) {
      const { exitCode, stdout, stderr } = await call(dir, ...words);
      entries.push([words.join(' '), `${exitCode} ${stdout}${stderr}`]);
    }
  }
  return Object.fromEntries(entries);
}

/** Where the folder is, and when the run was touched last: a run that moves has neither. */
const still = (text: string): string =>
  text.replaceAll(/"?(?:folder|workspace)"?:? +.*/g, '').replaceAll(/"?(?:changed|updatedAt)"?:? +.*/g, '');

const stillAll = (all: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(all).map(([verb, text]) => [verb, still(text)]));

describe('a run that moves to a cluster and back', () => {
  test('is told of as before, decided there, and goes on here', async ({ dir }) => {
    await local(dir, ...RUN_SUM);
    await local(dir, 'show', 'sum');
    await local(dir, 'approve', 'sum');
    expect(await local(dir, 'resume', 'sum')).toMatchObject({ exitCode: 75 });
    const before = await told(dir, local);

    const pushed = await there(dir, 'push', 'sum');
    expect(pushed, pushed.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(pushed.stdout).toContain(`sum is in ${cluster.server.url}, and not here any more`);
    expect(await local(dir, 'resume', 'sum')).toMatchObject({ exitCode: 4 });
    expect((await there(dir, 'push', 'sum', '--json')).stdout).toContain('"pushed": false');
    expect(readdirSync(join(dir, '.devs')).filter((name) => name.includes('moving'))).toEqual([]);

    expect(stillAll(await told(dir, there))).toEqual(stillAll(before));
    const [gate] = JSON.parse((await there(dir, 'gates', '--json')).stdout) as Gate[];
    const approved = await there(dir, 'approve', 'sum', '--hash', gate?.artifactHash ?? '');
    expect(approved, approved.stderr).toMatchObject({ exitCode: 0 });
    expect(await there(dir, 'approve', gate?.sessionId ?? '')).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('GATE_ALREADY_DECIDED'),
    });

    const pulled = await there(dir, 'pull', 'sum');
    expect(pulled, pulled.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await there(dir, 'status', 'sum')).toMatchObject({ exitCode: 4 });
    expect((await there(dir, 'pull', 'sum', '--json')).stdout).toContain('"pulled": false');
    const done = await local(dir, 'resume', 'sum');
    expect(done, done.stderr).toMatchObject({ exitCode: 0 });
    const { tasks } = JSON.parse((await local(dir, 'status', 'sum', '--json')).stdout) as RunStatus;
    expect(tasks).toMatchObject([{ status: 'completed', gitHash: expect.stringMatching(/^[0-9a-f]{40}$/) }]);
    expect(await local(dir, 'doctor')).toMatchObject({ exitCode: 0 });
  });
});

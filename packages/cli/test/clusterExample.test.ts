import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
import { moduleFile, programFile } from '../../core/test/support/programFile.ts';
import { spawnNode } from '../../core/test/support/spawnTs.ts';
import { type PostgresServer, startPostgres } from '../../postgres/test/support/startPostgres.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { startBin } from './support/startBin.ts';

const example = (name: string): URL => new URL(`../../../examples/cluster/${name}`, import.meta.url);

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  vi.stubEnv('DEVS_DATABASE_URL', server.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});

describe('examples/cluster', () => {
  test('does what its page says: a run waits, is answered, and ends for who waits for it', async ({
    dir,
  }) => {
    const devs = (...argv: string[]) => callMain(dir, argv, { env: { DEVS_DATABASE_URL: server.url } });
    expect(await devs('migrate')).toMatchObject({ exitCode: 0, stderr: '' });
    const worker = startBin(dir, ['worker', moduleFile(example('app.js')), '--slots', '10']);
    const { child, finished } = spawnNode([programFile(example('start.js')), 'mail-7', 'Ada'], {});
    onTestFinished(() => {
      for (const each of [worker.child, child]) each.kill('SIGKILL');
    });
    while (!(await devs('gates')).stdout.includes('mail-7')) await sleep(50);
    expect((await devs('show', 'mail-7')).stdout).toContain('Send this to Ada: Dear Ada');
    expect(await devs('answer', 'mail-7', '--value', 'true')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await finished).toMatchObject({
      ...{ code: 0, stderr: '' },
      stdout: "mail-7 is recorded\ncompleted { to: 'Ada', text: 'Dear Ada, …', sent: true }\n",
    });
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

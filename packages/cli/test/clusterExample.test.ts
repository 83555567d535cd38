import { readFileSync } from 'node:fs';
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

/** Arguments of the worker, as the Dockerfile and the manifest have them. */
const wordsIn = (text: string, list: RegExp): readonly string[] =>
  [...(list.exec(text)?.[1] ?? '').matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);

const fileOf = (name: string): string => readFileSync(example(name), 'utf8');

describe('examples/cluster', () => {
  test('has an image, a compose file and a manifest with the same command, its probes and enough time to drain', () => {
    const [image, compose, manifest] = ['Dockerfile', 'compose.yaml', 'kubernetes.yaml'].map(fileOf);
    const words = wordsIn(image ?? '', /^CMD (\[.*\])$/m);
    expect(wordsIn(manifest ?? '', /^ +args:\s+(\[\s*"worker"[^\]]*\])$/m).slice(0, words.length)).toEqual(
      words,
    );
    const drainSeconds = Number(words[words.indexOf('--drain-ms') + 1]) / 1000;
    expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(manifest ?? '')?.[1])).toBeGreaterThan(
      drainSeconds + 3,
    );
    expect(Number(/stop_grace_period: (\d+)s/.exec(compose ?? '')?.[1])).toBeGreaterThan(drainSeconds + 3);
    const port = Number(words[words.indexOf('--health-port') + 1]);
    expect([manifest, compose, image].map((text) => text?.includes(String(port)))).toEqual([
      true,
      true,
      true,
    ]);

    expect(manifest).toMatch(/args: \["migrate"\]/);
    const paths = [...(manifest ?? '').matchAll(/path: (\/\w+)/g)].map(([, path]) => path);
    expect(paths).toEqual(['/livez', '/livez', '/readyz']);
    expect(compose).toContain(`127.0.0.1:${port}/readyz`);
  });

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

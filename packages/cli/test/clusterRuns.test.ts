import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Gate, type PipelineRunInfo } from '@devs/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tablesOf } from '../../core/test/support/insides.ts';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import { callMain } from './support/callMain.ts';
import { RUN_SUM } from './support/fixtures.ts';

let cluster: Cluster;
const dir = mkdtempSync(join(tmpdir(), 'devs-moving-'));

const here = (...argv: readonly string[]) => callMain(dir, argv);
const as = (url: string, argv: readonly string[]) => callMain(dir, argv, { env: { DEVS_DATABASE_URL: url } });
/** As a role that has what `devs migrate --grant` gives. */
const there = (...argv: readonly string[]) => as(urlOf('devs_worker'), argv);

function urlOf(role: string): string {
  const url = new URL(cluster.server.url);
  url.username = role;
  return url.href;
}

beforeAll(async () => {
  cluster = await startCluster();
  const printed = await as(cluster.server.url, ['migrate', '--print', '--grant', 'devs_worker']);
  await cluster.sql(`CREATE ROLE devs_worker LOGIN; ${printed.stdout}`);
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** What is said of the run, without when it was touched last: moving it is that. */
async function told(call: typeof here): Promise<readonly string[]> {
  const verbs = [
    ['status', 'sum'],
    ['status', '--json'],
    ['gates', '--all'],
    ['show', 'sum'],
    ['log', 'sum', '--json'],
  ];
  const texts: string[] = [];
  for (const verb of verbs) {
    const { exitCode, stdout, stderr } = await call(...verb);
    const said = stdout.replaceAll(/"?(?:folder|workspace|updated|updatedAt)"?:? +.*/g, '');
    texts.push(`${verb.join(' ')}: ${exitCode} ${said}${stderr}`);
  }
  return texts;
}

const onTheWay = () => readdirSync(join(dir, '.devs')).filter((name) => name.includes('moving'));

describe('a run that moves to a cluster and back', () => {
  let before: readonly string[];
  let gate: Gate | undefined;

  test('waits here at first', async () => {
    expect(await here(...RUN_SUM)).toMatchObject({ exitCode: 75 });
    before = await told(here);
  });

  test('is in the cluster, and not here any more', async () => {
    const pushed = await there('push', 'sum');
    expect(pushed, pushed.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(pushed.stdout).toContain(`moved sum to ${urlOf('devs_worker')}`);
    expect(onTheWay()).toEqual([]);
    expect(await here('resume', 'sum')).toMatchObject({ exitCode: 4 });
    expect(await here('doctor')).toMatchObject({ exitCode: 0 });
    expect((await there('push', 'sum', '--json')).stdout).toContain('"pushed": false');
  });

  test('is told of there in the same words', async () => {
    expect(await told(there)).toEqual(before);
  });

  test('is on the page there', async () => {
    const ending = new AbortController();
    const served = new Promise<URL>((resolve) => {
      const onWrite = (text: string): void => {
        const [url] = /http:[^"]+/.exec(text) ?? [];
        if (url !== undefined) resolve(new URL(url));
      };
      const env = { DEVS_DATABASE_URL: urlOf('devs_worker') };
      void callMain(dir, ['ui', 'sum', '--port', '0', '--json'], { env, onWrite, signal: ending.signal });
    });
    const url = await served;
    expect(url.hash).toContain('&at=/runs/sum');
    const ask = async (path: string, init: RequestInit): Promise<unknown> =>
      (await fetch(new URL(path, url), init)).json();
    const page = { 'sec-fetch-site': 'same-origin', origin: url.origin, 'content-type': 'application/json' };
    const body = JSON.stringify({ code: /#code=([\w-]+)/.exec(url.hash)?.[1] });
    const { secret } = (await ask('/api/session', { method: 'POST', headers: page, body })) as {
      secret: string;
    };
    const inbox = await ask('/api/inbox', { headers: { ...page, 'x-devs-session': secret } });
    expect(inbox).toMatchObject({ total: 1, gates: [{ threadId: 'sum' }], runs: [{ id: 'sum' }] });
    ending.abort();
  });

  test('is decided there, once', async () => {
    [gate] = JSON.parse((await there('gates', '--json')).stdout) as Gate[];
    const { sessionId = '', artifactHash = '' } = gate ?? {};
    const approved = await there('approve', 'sum', '--hash', artifactHash);
    expect(approved, approved.stderr).toMatchObject({ exitCode: 0 });
    expect(await there('approve', sessionId, '--hash', artifactHash)).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('GATE_ALREADY_DECIDED'),
    });
    expect((await there('gates')).stdout).toBe('There are no open gates.\n');
  });

  test('comes back with what it was told', async () => {
    const pulled = await there('pull', 'sum');
    expect(pulled, pulled.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    expect(pulled.stdout).toContain(`the previous state file, which had no runs, is now`);
    expect(onTheWay()).toEqual([]);
    expect(await there('status', 'sum')).toMatchObject({ exitCode: 4 });
    expect((await there('pull', 'sum', '--json')).stdout).toContain('"pulled": false');
  });

  test('goes on here, to its commit', async () => {
    expect(await here('resume', 'sum')).toMatchObject({ exitCode: 75 });
    await here('show', 'sum');
    await here('approve', 'sum');
    const done = await here('resume', 'sum');
    expect(done, done.stderr).toMatchObject({ exitCode: 0 });
    const { tasks } = JSON.parse((await here('status', 'sum', '--json')).stdout) as PipelineRunInfo;
    expect(tasks).toMatchObject([{ status: 'completed', gitHash: expect.stringMatching(/^[0-9a-f]{40}$/) }]);
    expect(await here('doctor')).toMatchObject({ exitCode: 0 });
  });

  test('is not removed there while its commits are nowhere else', async () => {
    expect(await there('push', 'sum')).toMatchObject({ exitCode: 0 });
    expect(await there('rm', 'sum')).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^REMOVE_REFUSED: .* its commits exist nowhere else\.\n.*devs pull.*--force/,
      ),
    });
    expect(await there('status', 'sum')).toMatchObject({ exitCode: 0 });
    expect(await there('rm', 'sum', '--force')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await there('status', 'sum')).toMatchObject({ exitCode: 4 });
  });
});

describe('a run that is on its way', () => {
  /** An ended or waiting run of no graph that is here. */
  function aRun(file: string, id: string): void {
    const db = createDatabase({ dbPath: file });
    const about = { projectId: id, workspace: null, briefSha256: null, policies: {} };
    tablesOf(db).threads.create({ threadId: id, graphFingerprint: 'f'.repeat(64), ...about });
    db.close();
  }

  test('has to be called something where its graph is one’s own', async () => {
    const file = join(dir, 'own.sqlite');
    aRun(file, 'own');
    const unnamed = await there('push', 'own', '--file', 'own.sqlite');
    expect(unnamed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--graph') });
    const argv = ['own', '--file', 'own.sqlite', '--graph', 'mail', '--tenant', 'acme'];
    expect((await there('push', ...argv)).exitCode).toBe(0);
    expect(await cluster.sql('SELECT graph, tenant FROM devs.runs WHERE run_id = $1', ['own'])).toEqual([
      { graph: 'mail', tenant: 'acme' },
    ]);
    expect((await there('pull', 'own', '--file', 'back.sqlite', '--json')).stdout).toContain('"kept": null');
    expect(existsSync(join(dir, 'back.sqlite'))).toBe(true);
  });

  test('stays where it is while somebody drives it', async () => {
    aRun(join(dir, 'busy.sqlite'), 'busy');
    await there('push', 'busy', '--file', 'busy.sqlite', '--graph', 'mail');
    const held = await cluster.runs().hold('busy');
    expect(await there('pull', 'busy', '--file', 'busy.sqlite')).toMatchObject({ exitCode: 3 });
    await held.close();
    expect(await there('pull', 'busy', '--file', 'busy.sqlite')).toMatchObject({ exitCode: 0 });
  });

  test('comes into no file that has runs, and goes to no cluster that has its name', async () => {
    aRun(join(dir, 'one.sqlite'), 'twin');
    aRun(join(dir, 'two.sqlite'), 'twin');
    aRun(join(dir, 'other.sqlite'), 'other');
    const push = (file: string) => there('push', 'twin', '--file', file, '--graph', 'mail');
    expect(await push('one.sqlite')).toMatchObject({ exitCode: 0 });
    expect(await push('two.sqlite')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('THREAD_EXISTS'),
    });
    expect(await there('pull', 'twin', '--file', 'other.sqlite')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('already contains runs'),
    });
    expect(await there('pull', 'twin', '--file', 'two.sqlite')).toMatchObject({ exitCode: 2 });
  });

  test('is nowhere where nobody knows it', async () => {
    expect(await there('push', 'nobody')).toMatchObject({ exitCode: 4 });
    expect(await there('pull', 'nobody', '--file', 'none.sqlite')).toMatchObject({ exitCode: 4 });
  });
});

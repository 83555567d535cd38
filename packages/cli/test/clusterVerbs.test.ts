import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import { callMain } from './support/callMain.ts';
import { RUN_EMPTY } from './support/fixtures.ts';

let cluster: Cluster;
const [file, folder] = ['file', 'folder'].map((name) => mkdtempSync(join(tmpdir(), `devs-${name}-`)));

const here = (...argv: readonly string[]) => callMain(file ?? '', argv);
const there = (...argv: readonly string[]) =>
  callMain(folder ?? '', argv, { env: { DEVS_DATABASE_URL: cluster.server.url } });

beforeAll(async () => {
  cluster = await startCluster();
  await there('migrate');
});
afterAll(async () => {
  await cluster.stop();
  for (const dir of [file, folder]) rmSync(dir ?? '', { recursive: true, force: true });
});

/** In this order, with a run that waits at its first gate, in a state file and in a cluster: each ends and says the same. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  run: RUN_EMPTY.slice(1),
  status: ['sum'],
  gates: ['--all'],
  show: ['sum'],
  docs: ['sum'],
  log: ['sum'],
  explain: ['sum'],
  ask: ['sum', 'why?'],
  edit: ['sum'],
  approve: ['sum'],
  resume: ['sum'],
  reject: ['sum', '--feedback', 'no'],
  answer: ['sum', '--value', '1'],
  sync: ['sum'],
  rewind: ['sum', 'T1'],
  revive: ['sum'],
  'accept-graph': ['sum'],
  prune: ['sum'],
  pause: ['sum'],
  cancel: ['sum'],
};

/** What cannot be done where the runs are elsewhere. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  adopt: ['sum', '--author', 'Ada <ada@example.org>'],
  pr: ['sum'],
  doctor: [],
  backup: ['copy.sqlite'],
  gc: [],
  compact: [],
};

/** About a cluster, a machine, or a page: they have tests of their own. */
const OTHERS =
  'init trust ui serve admin help migrate upgrade webhooks schedule import-threads export-threads worker push pull queue workers tenants redrive retry why chaos rekey trace'.split(
    ' ',
  );

/** Without what differs each time, and what is not recorded over a cluster. */
async function said(call: typeof here, verb: string, argv: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await call(verb, ...argv);
  return `${verb} ${exitCode}\n${stdout}\n${stderr}`
    .replaceAll(/\b[0-9a-f]{8}(?:[0-9a-f-]{28}|[0-9a-f]{56})?\b/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d|\d+\.\d(?=s )/g, 'TIME')
    .replaceAll(/"?(?:folder|workspace)"?:? +.*\n|.*gate viewed: .*\n/g, '');
}

/** All that a command could write. */
const written = async () => [
  await cluster.sql('SELECT run_id, status, epoch, head_seq, wake_seq FROM devs.runs ORDER BY 1'),
  await cluster.sql('SELECT run_id, id FROM devs.signals ORDER BY 2'),
  readdirSync(folder ?? '', { recursive: true }),
];

test('every verb is looked at here', async () => {
  const helps = [await here('--help'), await here('admin', '--help')];
  const listed = helps.flatMap(({ stdout }) => [
    ...(stdout.split('Commands:')[1]?.matchAll(/^ {2}([a-z-]+)/gm) ?? []),
  ]);
  const names = listed.map(([, name]) => name);
  expect(new Set(names)).toEqual(new Set([...Object.keys(SAME), ...Object.keys(REFUSED), 'rm', ...OTHERS]));
});

describe('over a cluster', () => {
  test.each(Object.entries(SAME))('%s ends and says the same as with a state file', async (verb, argv) => {
    expect(await said(there, verb, argv)).toBe(await said(here, verb, argv));
  });

  test.each(Object.entries(REFUSED))(
    '%s is refused with what to do, and writes nothing',
    async (verb, argv) => {
      const before = await written();
      const refused = /^RUN_ELSEWHERE: .+\n {2}→ .*devs pull/;
      expect(await there(verb, ...argv)).toMatchObject({
        ...{ exitCode: 2, stdout: '' },
        stderr: expect.stringMatching(refused),
      });
      expect(await written()).toEqual(before);
    },
  );

  test('rm removes a run that has ended, for a person; with --force any that nobody drives', async () => {
    await there('run', ...(SAME['run'] ?? []).map((word) => (word === 'sum' ? 'open' : word)));
    const before = await written();
    expect(await there('rm', 'open')).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(/^REMOVE_REFUSED: Run "open" has not ended: it is waiting.\n.*--force/),
    });
    const held = await cluster.runs().hold('open');
    expect(await there('rm', 'open')).toMatchObject({ stderr: expect.stringMatching(/^REMOVE_REFUSED/) });
    expect(await there('rm', 'open', '--force')).toMatchObject({ exitCode: 3 });
    await held.close();
    expect((await written()).slice(1)).toEqual(before.slice(1));

    const words =
      'removed sum and the record of its decisions; its branch and the folders of workers are kept\n';
    expect(await there('rm', 'sum')).toEqual({ exitCode: 0, stderr: '', stdout: words });
    const forced = await there('rm', 'open', '--force', '--json');
    const { bytes, ...removed } = JSON.parse(forced.stdout) as { readonly bytes: number };
    expect(removed).toEqual({ id: 'open', branch: null });
    expect(bytes).toBeGreaterThan(10_000);
    const inHere = JSON.parse((await here('rm', 'sum', '--json')).stdout) as object;
    expect(Object.keys(inHere).sort()).toEqual(['branch', 'bytes', 'id']);

    expect(await there('rm', 'sum')).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('sum') });
    for (const table of ['runs', 'signals', 'gates', 'run_changes', 'run_bases'])
      expect(await cluster.sql(`SELECT * FROM devs.${table}`), table).toEqual([]);
    expect((await there('status')).stdout).toBe(
      `There are no runs in ${cluster.server.url}.\nto start one: devs run brief.md --help\n`,
    );
  });
});

test('devs serve executes the graphs of a langgraph.json in the cluster, until Ctrl-C', async () => {
  const graphs = fileURLToPath(new URL('fixtures/serve/cluster.json', import.meta.url));
  const ending = new AbortController();
  let text = '';
  let tell = (_url: string): void => {};
  const url = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const ended = callMain(folder ?? '', ['serve', graphs, '--port', '0', '--json', '--by', 'ada'], {
    env: { DEVS_DATABASE_URL: cluster.server.url },
    signal: ending.signal,
    onWrite: (piece) => {
      text += piece;
      const found = /"is":"serving","url":"([^"]+)"/.exec(text)?.[1];
      if (found !== undefined) tell(found);
    },
  });
  const failed = ended.then(({ stderr }) => Promise.reject(new Error(stderr)));
  const response = await fetch(`${await Promise.race([url, failed])}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'made', input: { number: 4 } }),
  });
  expect(await response.json()).toEqual({ number: 5 });
  ending.abort();
  expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
});

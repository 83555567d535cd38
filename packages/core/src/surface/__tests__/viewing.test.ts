import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Annotation, StateGraph } from '@langchain/langgraph';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { durable } from '../../engine/app/durable.ts';
import { Orchestrator } from '../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;

const builder = () =>
  new StateGraph(Annotation.Root({ draft: Annotation<string> }))
    .addNode('publish', () => ({}))
    .addEdge('__start__', 'publish')
    .addEdge('publish', '__end__');

const posts = (file: string) => {
  const app = durable(builder(), { file, gates: { publish: ({ draft }) => draft } });
  onTestFinished(() => app.close());
  return app;
};

async function view(file: string): Promise<Orchestrator> {
  const devs = await Orchestrator.open({
    dir: path.dirname(file),
    file: path.basename(file),
    readOnly: true,
  });
  onTestFinished(() => devs.close());
  return devs;
}

describe('a viewer', () => {
  test('reads the runs of a graph of one’s own in a file of another name, and decides them', async ({
    dbPath,
  }) => {
    const file = path.join(path.dirname(dbPath), 'posts.sqlite');
    const app = posts(file);
    await app.run('post-1', { draft: 'Hello.' });

    const [run] = await (await view(file)).list();
    expect(run).toMatchObject({
      id: 'post-1',
      tasks: [],
      gates: [{ kind: 'node_gate', artifact: 'Hello.' }],
    });
    const writer = await Orchestrator.open({ dir: path.dirname(file), file: 'posts.sqlite' });
    onTestFinished(() => writer.close());
    const handle = await writer.run('post-1');
    await handle.decide(only(await handle.gates()), { approved: true, by: ada });

    expect((await app.run('post-1')).status).toBe('completed');
    expect(existsSync(dbPath)).toBe(false);
  });

  test('reads runs of a graph of one’s own whose channels have the names of the pipeline’s', async ({
    dbPath,
  }) => {
    const tasks = Annotation<(string | null)[]>;
    const graph = new StateGraph(Annotation.Root({ tasks, hitlDecisions: Annotation<null> }))
      .addNode('publish', () => ({ tasks: ['one', null], hitlDecisions: null }))
      .addEdge('__start__', 'publish');
    const app = durable(graph, { file: dbPath });
    onTestFinished(() => app.close());
    await app.run('post-1', { tasks: [] });
    const devs = await view(dbPath);
    expect(await devs.list()).toMatchObject([{ status: 'completed', tasks: [], review: null }]);
    expect(await (await devs.run('post-1')).state()).toBeNull();
  });

  test('is told that another connection has committed, and by nothing else', async ({ dbPath }) => {
    const app = posts(dbPath);
    await app.run('post-1', { draft: 'Hello.' });
    const devs = await view(dbPath);

    const before = await devs.dataVersion();
    await devs.list();
    expect(await devs.dataVersion()).toBe(before);
    await app.run('post-2', { draft: 'Hello again.' });
    expect(await devs.dataVersion()).not.toBe(before);
  });

  test.for([
    ['deleted', (file: string) => rmSync(file)],
    [
      'replaced',
      (file: string) => {
        copyFileSync(file, `${file}.new`);
        renameSync(`${file}.new`, file);
      },
    ],
  ] as const)('is told that its file was %s', async ([, change], { dbPath }) => {
    posts(dbPath);
    const devs = await view(dbPath);
    change(dbPath);
    await expect(devs.dataVersion()).rejects.toMatchObject({ code: 'STATE_REPLACED' });
  });

  test('is told that a file is of an earlier release, which is not damage, and leaves it so', async ({
    db,
    dbPath,
  }) => {
    const newest =
      'DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)';
    db.exec(newest);
    const before = db.pragma('schema_version');
    await expect(view(dbPath)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('earlier release'),
      remedy: expect.stringContaining('devs status'),
    });
    expect(db.pragma('schema_version')).toEqual(before);
  });
});

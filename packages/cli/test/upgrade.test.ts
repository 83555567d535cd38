import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const CORE = pathToFileURL(fileURLToPath(new URL('../../core/src/index.ts', import.meta.url))).href;
const LANGGRAPH = import.meta.resolve('@langchain/langgraph');

/** A module as a user has it: one app over the state file beside it. */
function moduleOf(
  dir: string,
  name: string,
  { node = 'publish', gates = 'publish', more = '' } = {},
): string {
  const file = join(dir, `${name}.mjs`);
  writeFileSync(
    file,
    `import { durable } from ${JSON.stringify(CORE)};
import { Annotation, START, StateGraph } from ${JSON.stringify(LANGGRAPH)};
const State = Annotation.Root({ draft: Annotation() });
const graph = new StateGraph(State)
  .addNode('write', () => ({ draft: 'd' }))
  .addNode('${node}', () => ({}))
  .addEdge(START, 'write')
  .addEdge('write', '${node}');
export const make = () => durable(graph, {
  file: ${JSON.stringify(join(dir, 'app.sqlite'))},
  gates: { ${gates === '' ? '' : `${gates}: (state) => state.draft`} },
  ${more}
});
export default make();
`,
  );
  return file;
}

async function started(dir: string): Promise<void> {
  const { default: app } = (await import(pathToFileURL(moduleOf(dir, 'before')).href)) as {
    default: { run(id: string, input: object): Promise<unknown>; close(): PromiseLike<void> };
  };
  await app.run('order-1', {});
  await app.run('order-2', {});
  await app.close();
}

describe('devs upgrade --check', () => {
  test('names the runs that a graph refuses, and exits with the code of GRAPH_CHANGED', async ({ dir }) => {
    await started(dir);
    const bad = moduleOf(dir, 'bad', { node: 'release', gates: 'release' });
    const refused = await callMain(dir, ['upgrade', '--check', bad, '--json']);
    expect(refused.exitCode).toBe(5);
    const told = JSON.parse(refused.stdout);
    expect(told).toMatchObject({ unchanged: 0, taken: [], others: [] });
    expect(told.refused).toMatchObject([
      { id: 'order-1', status: 'waiting', reason: 'pending_visit' },
      { id: 'order-2', status: 'waiting', reason: 'pending_visit' },
    ]);
    const more = "graphChanges: { renamed: { nodes: { publish: 'release' } } },";
    const good = moduleOf(dir, 'good', { node: 'release', gates: 'release', more });
    const taken = await callMain(dir, ['upgrade', '--check', good]);
    expect(taken.exitCode).toBe(0);
    expect(taken.stdout).toContain('order-1: continues: node "publish" is gone; node "release" is new');
    expect(taken.stdout).toContain('0 unchanged, 2 continue, 0 refused, 0 of other graphs');
  });

  test('is the only thing it does', async ({ dir }) => {
    const { exitCode, stderr } = await callMain(dir, ['upgrade', moduleOf(dir, 'same')]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('devs upgrade --check');
  });
});

describe('devs accept-graph --app', () => {
  test('accepts every run that the graph refuses, or one of them', async ({ dir }) => {
    await started(dir);
    const more = "version: '2',";
    const one = ['accept-graph', '--app', moduleOf(dir, 'one', { more }), 'order-1', '--by', 'ada'];
    expect((await callMain(dir, one)).stdout).toContain('order-1: accepted: version "1" became "2"');
    const all = ['accept-graph', '--app', moduleOf(dir, 'all', { more }), '--all', '--by', 'ada', '--json'];
    const accepted = await callMain(dir, all);
    expect(accepted.exitCode).toBe(0);
    expect(JSON.parse(accepted.stdout)).toMatchObject({ accepted: [{ id: 'order-2' }], refused: [] });
    const rest = await callMain(dir, ['upgrade', '--check', moduleOf(dir, 'rest', { more })]);
    expect(rest.stdout).toContain('2 unchanged');
  });

  test('says which it cannot, and needs a run or all of them', async ({ dir }) => {
    await started(dir);
    const all = [
      'accept-graph',
      '--app',
      moduleOf(dir, 'none', { node: 'release', gates: 'release' }),
      '--all',
    ];
    const { exitCode, stdout } = await callMain(dir, all);
    expect(exitCode).toBe(6);
    expect(stdout).toContain('order-1: not accepted: GRAPH_NOT_ACCEPTED');
    expect((await callMain(dir, ['accept-graph'])).exitCode).toBe(2);
    expect((await callMain(dir, ['accept-graph', '--all'])).exitCode).toBe(2);
  });
});

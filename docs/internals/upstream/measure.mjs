// What the patch beside this saves of LangGraph's own time: node docs/internals/upstream/measure.mjs CHECKOUT [ROUNDS]
// CHECKOUT is langchainjs with the patch applied. The changed file is compiled from there against the installed @langchain/core,
// and its method takes turns with the installed one in one process, so that what disturbs one disturbs both.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const fromCore = createRequire(join(root, 'packages', 'core', 'package.json'));
const imported = (name) => import(pathToFileURL(fromCore.resolve(name).replace(/\.cjs$/, '.js')).href);
const esbuild = createRequire(createRequire(join(root, 'package.json')).resolve('tsx'))('esbuild');

const [checkout, rounds = '9'] = process.argv.slice(2);
const changed = resolve(checkout, 'libs/langchain-core/src/singletons/async_local_storage/index.ts');
const dist = dirname(fromCore.resolve('@langchain/core/package.json'));

const here = join(dist, 'dist', 'singletons', 'async_local_storage');

/** The method of the patched source. */
async function patchedMethod() {
  const folder = mkdtempSync(join(root, 'node_modules', '.cache', 'upstream-'));
  const outfile = join(folder, 'patched.mjs');
  /** What the file imports of its package is the installed package's, and LangSmith what that has. */
  const langsmith = createRequire(join(dist, 'package.json')).resolve('langsmith/package.json');
  const installed = {
    name: 'installed',
    setup: (build) =>
      build.onResolve({ filter: /^(?:\.|langsmith$)/ }, ({ path }) => {
        const file = path === 'langsmith' ? join(dirname(langsmith), 'index.mjs') : join(here, path);
        return { path: pathToFileURL(file).href, external: true };
      }),
  };
  await esbuild.build({
    stdin: { contents: readFileSync(changed, 'utf8'), loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    tsconfigRaw: {},
    plugins: [installed],
    logLevel: 'warning',
  });
  const { AsyncLocalStorageProviderSingleton } = await import(pathToFileURL(outfile).href);
  rmSync(folder, { recursive: true });
  return AsyncLocalStorageProviderSingleton.runWithConfig;
}

const { AsyncLocalStorageProviderSingleton: singleton } = await imported('@langchain/core/singletons');
const { Annotation, END, MemorySaver, START, StateGraph } = await imported('@langchain/langgraph');
const ways = { installed: singleton.runWithConfig, patched: await patchedMethod() };

const SUPER_STEPS = 400;
const graph = new StateGraph(Annotation.Root({ count: Annotation() }))
  .addNode('add', ({ count }) => ({ count: count + 1 }))
  .addEdge(START, 'add')
  .addConditionalEdges('add', ({ count }) => (count < SUPER_STEPS ? 'add' : END), ['add', END])
  .compile({ checkpointer: new MemorySaver() });

/** ms of processor time. */
async function costOf(way, id) {
  singleton.runWithConfig = ways[way];
  const begin = process.cpuUsage();
  const config = { configurable: { thread_id: id }, recursionLimit: SUPER_STEPS + 5, durability: 'sync' };
  const { count } = await graph.invoke({ count: 0 }, config);
  if (count !== SUPER_STEPS) throw new Error(`${way} ended at ${count}`);
  const { user, system } = process.cpuUsage(begin);
  await graph.checkpointer.deleteThread(id);
  return (user + system) / 1000;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const ratios = [];
for (let round = -2; round < Number(rounds); round += 1) {
  const order = round % 2 === 0 ? ['installed', 'patched'] : ['patched', 'installed'];
  const cost = {};
  for (const way of order) cost[way] = await costOf(way, `${way}-${round}`);
  if (round < 0) continue; // the first ones warm it up
  ratios.push(cost.patched / cost.installed);
  const perStep = (way) => (cost[way] / SUPER_STEPS).toFixed(2);
  process.stdout.write(
    `round ${round}: installed ${perStep('installed')}, patched ${perStep('patched')} ms of processor a super-step\n`,
  );
}
process.stdout.write(
  `patched / installed: median ${median(ratios).toFixed(2)}, from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}\n`,
);

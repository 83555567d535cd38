import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const CORE = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
/** tsx's own compiler. */
const esbuild = createRequire(require.resolve('tsx/package.json'))('esbuild') as {
  buildSync(options: object): { readonly metafile: { readonly inputs: Readonly<Record<string, unknown>> } };
};
const DRIVER = dirname(require.resolve('better-sqlite3/package.json'));

/** The post of the README; its acts are processes of their own. */
const SERVER = `
import { appendFileSync } from 'node:fs';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const act = process.argv[2];
const call = (what) => { appendFileSync('account.txt', what + '\\n'); return what; };
const builder = new StateGraph(Annotation.Root({ text: Annotation(), url: Annotation() }))
  .addNode('write', async () => {
    const text = await step('llm', () => call('written'));
    if (act === 'die') process.kill(process.pid, 'SIGKILL');
    return { text };
  })
  .addNode('publish', async ({ text }) => ({ url: await step('post', () => call('published ' + text)) }))
  .addEdge(START, 'write')
  .addEdge('write', 'publish')
  .addEdge('publish', END);
const app = durable(builder, { file: 'posts.sqlite', gates: { publish: ({ text }) => ({ text }) } });
async function serve() {
  if (act === 'decide') {
    const [gate] = await app.gates('post');
    await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  }
  const { status, values } = await app.run('post', {});
  console.log(status, values?.url ?? '');
  app.close();
}
serve();
`;

const dir = mkdtempSync(join(tmpdir(), 'devs-one-file-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function bundle(): readonly string[] {
  const { metafile } = esbuild.buildSync({
    absWorkingDir: CORE,
    stdin: { contents: SERVER, resolveDir: CORE },
    alias: { '@devs/core/langgraph': join(CORE, 'src', 'langgraph.ts') },
    // The command of docs/reference/platforms.md, of the sources.
    bundle: true,
    platform: 'node',
    format: 'cjs',
    minify: true,
    external: ['better-sqlite3'],
    conditions: ['@devs/source'],
    outfile: join(dir, 'server.cjs'),
    metafile: true,
    // `import.meta` is empty in CommonJS, which the engine knows.
    logLevel: 'error',
  });
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(DRIVER, join(dir, 'node_modules', 'better-sqlite3'));
  return Object.keys(metafile.inputs);
}

function processOf(act: string): { readonly said: string; readonly ended: string | number | null } {
  const { stdout, stderr, signal, status } = spawnSync(process.execPath, ['server.cjs', act], {
    cwd: dir,
    encoding: 'utf8',
  });
  return { said: (stdout + stderr).trim(), ended: signal ?? status };
}

test('a server in one file survives a kill, asks, and does what was decided', () => {
  expect(bundle().join()).toContain('@langchain/langgraph/dist/');
  expect(processOf('die')).toEqual({ said: '', ended: 'SIGKILL' });
  expect(processOf('go on')).toEqual({ said: 'waiting', ended: 0 });
  expect(processOf('decide')).toEqual({ said: 'completed published written', ended: 0 });
  expect(readFileSync(join(dir, 'account.txt'), 'utf8')).toBe('written\npublished written\n');
});

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const CORE = pathToFileURL(fileURLToPath(new URL('../../core/src/index.ts', import.meta.url))).href;
const LANGGRAPH = import.meta.resolve('@langchain/langgraph');
const SAVER = fileURLToPath(
  new URL('../../core/node_modules/@langchain/langgraph-checkpoint-sqlite', import.meta.url),
);

interface Plain {
  readonly begin: (saver: unknown, ids: readonly string[]) => Promise<void>;
  readonly end: (saver: unknown, id: string, interrupt: string) => Promise<unknown>;
}

let modules = 0;

/** A module as a user has it, with the official checkpointer installed beside it; another file for each command, as it closes the app. */
function moduleOf(dir: string, node = 'ask'): string {
  modules += 1;
  const installed = join(dir, 'node_modules/@langchain/langgraph-checkpoint-sqlite');
  mkdirSync(dirname(installed), { recursive: true });
  if (!existsSync(installed)) symlinkSync(SAVER, installed);
  const file = join(dir, `app-${modules}.mjs`);
  writeFileSync(
    file,
    `import { durable } from ${JSON.stringify(CORE)};
import { Annotation, Command, START, StateGraph, interrupt } from ${JSON.stringify(LANGGRAPH)};
const State = Annotation.Root({ answer: Annotation() });
const graph = new StateGraph(State)
  .addNode('${node}', () => ({ answer: interrupt('Send?') }))
  .addEdge(START, '${node}');
const at = (thread_id) => ({ configurable: { thread_id } });
export const begin = async (checkpointer, ids) => {
  for (const id of ids) await graph.compile({ checkpointer }).invoke({}, at(id));
};
export const end = (checkpointer, id, interruptId) =>
  graph.compile({ checkpointer }).invoke(new Command({ resume: { [interruptId]: 'yes' } }), at(id));
export default durable(graph, { file: ${JSON.stringify(join(dir, 'app.sqlite'))} });
`,
  );
  return file;
}

async function openFile(file: string): Promise<{ readonly saver: unknown; readonly close: () => void }> {
  const { SqliteSaver } = (await import(pathToFileURL(join(SAVER, 'dist/index.js')).href)) as {
    readonly SqliteSaver: { fromConnString(path: string): { readonly db: { close(): void } } };
  };
  const saver = SqliteSaver.fromConnString(file);
  return { saver, close: () => saver.db.close() };
}

describe('devs import-threads and export-threads', () => {
  test('list what would come, bring it, and take it away again', async ({ dir }) => {
    const app = moduleOf(dir);
    const from = join(dir, 'checkpoints.sqlite');
    const plain = (await import(pathToFileURL(app).href)) as Plain;
    const old = await openFile(from);
    await plain.begin(old.saver, ['post-1', 'post-2']);
    old.close();
    const before = readFileSync(from);

    const listed = await callMain(dir, ['import-threads', '--from', from, moduleOf(dir)]);
    expect(listed).toMatchObject({ exitCode: 0 });
    expect(listed.stdout).toContain('post-1: importable: waiting, 1 gate(s)');
    expect(listed.stdout).toContain('add --import');
    const done = await callMain(dir, [
      'import-threads',
      '--from',
      from,
      moduleOf(dir),
      '--import',
      '--by',
      'ada',
      '--json',
    ]);
    expect(JSON.parse(done.stdout)).toMatchObject({
      threads: [
        { id: 'post-1', result: 'imported' },
        { id: 'post-2', result: 'imported' },
      ],
      refused: [],
    });
    const again = await callMain(dir, [
      'import-threads',
      '--from',
      from,
      moduleOf(dir),
      '--import',
      '--thread',
      'post-2',
      '--json',
    ]);
    expect(JSON.parse(again.stdout)).toMatchObject({ threads: [{ id: 'post-2', result: 'unchanged' }] });
    expect(readFileSync(from)).toEqual(before);

    const to = join(dir, 'back.sqlite');
    const planned = await callMain(dir, ['export-threads', '--to', to, moduleOf(dir)]);
    expect(planned.stdout).toContain('post-1: exportable: waiting, 1 interrupt(s)');
    expect(existsSync(to)).toBe(false);
    const back = await callMain(dir, ['export-threads', '--to', to, moduleOf(dir), '--export', '--json']);
    const { threads } = JSON.parse(back.stdout) as {
      threads: { id: string; interrupts: { id: string }[] }[];
    };
    const copied = await openFile(to);
    for (const { id, interrupts } of threads)
      expect(await plain.end(copied.saver, id, interrupts[0]?.id ?? '')).toEqual({ answer: 'yes' });
    copied.close();
  });

  test('say what does not come and why, and what is missing', async ({ dir }) => {
    const app = moduleOf(dir);
    const from = join(dir, 'checkpoints.sqlite');
    const plain = (await import(pathToFileURL(app).href)) as Plain;
    const old = await openFile(from);
    await plain.begin(old.saver, ['post-1']);
    old.close();
    const other = moduleOf(dir, 'question');
    const refused = await callMain(dir, ['import-threads', '--from', from, other, '--import']);
    expect(refused.exitCode).toBe(6);
    expect(refused.stdout).toContain('post-1: refused (node_missing)');
    const missing = await callMain(dir, [
      'import-threads',
      '--from',
      join(dir, 'none.sqlite'),
      moduleOf(dir),
    ]);
    expect(missing.exitCode).toBe(2);
    const postgres = await callMain(dir, [
      'import-threads',
      '--from',
      'postgres://127.0.0.1:1/x',
      moduleOf(dir),
    ]);
    expect(postgres).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/checkpoint/) });
    writeFileSync(
      join(dir, 'other.sqlite'),
      'no database at all, but long enough to be looked at as one'.repeat(20),
    );
    const foreign = await callMain(dir, [
      ...['import-threads', '--from', join(dir, 'other.sqlite'), moduleOf(dir)],
    ]);
    expect(foreign).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The checkpointer cannot be used'),
    });
  });
});

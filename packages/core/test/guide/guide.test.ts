import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemorySaver } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

const here = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The pages whose programs are compiled with the tests, by the files that have them. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'quick-start': ['posts/post.ts', 'posts/start.ts', 'posts/approve.ts', 'quickStart.ts'],
  'your-graph': ['yourGraph.ts'],
  'steps-and-retries': ['stepsAndRetries.ts'],
  'functional-api': ['functionalApi.ts'],
  'human-approval': ['humanApproval.ts'],
  'timeouts-and-schedules': ['timeoutsAndSchedules.ts'],
  observability: ['observability.ts'],
  'webhooks-and-schedules': ['webhooksAndSchedules.ts'],
  stopping: ['stopping.ts'],
  streaming: ['streaming.ts'],
  'from-langgraph': ['fromLanggraph.ts'],
  'langchain-agents': ['langchainAgents.ts'],
  testing: ['testing.test.ts'],
  ...Object.fromEntries(
    [
      'agent-server',
      'agents',
      'deployment',
      'first-bad-week',
      'page',
      'security',
      'the-pipeline',
      'troubleshooting',
      'upgrades',
    ].map((page) => [page, ['../../../cli/test/guide/otherPages.ts']]),
  ),
};

const BLOCK = /^```ts\n([\s\S]*?)^```$/gm;
const IMPORT = /^import (?:type )?\{ ([^}]+) \} from ('[^']+');\n/gm;

/** Without what the formatter decides. */
const bare = (program: string): string => program.replace(/\s+/g, '').replace(/,(?=[)\]}])/g, '');

/** Each name that a program imports, with the module it is from. */
const importsOf = (program: string): readonly string[] =>
  [...program.matchAll(IMPORT)].flatMap(([, names = '', from]) =>
    names.split(', ').map((name) => `${name.replace(/^type /, '')} from ${from}`),
  );

test('every page of the guide with a program is among them', () => {
  const pages = readdirSync(new URL('../../../../docs/guide', import.meta.url)).map((file) =>
    file.replace('.md', ''),
  );
  const programs = (page: string): boolean =>
    [...here(`../../../../docs/guide/${page}.md`).matchAll(BLOCK)].length > 0;
  expect(pages.filter(programs).toSorted()).toEqual(Object.keys(PAGES).toSorted());
});

describe.each(Object.entries(PAGES))('the programs of docs/guide/%s.md', (page, files) => {
  const compiled = files.map(here);
  const blocks = [...here(`../../../../docs/guide/${page}.md`).matchAll(BLOCK)].map(([, text = '']) => text);

  test.each(blocks)('are compiled: %#', (block) => {
    const programs = compiled.map((program) => bare(program.replace(IMPORT, '')));
    expect(programs).toContainEqual(expect.stringContaining(bare(block.replace(IMPORT, ''))));
    expect(compiled.flatMap(importsOf)).toEqual(expect.arrayContaining([...importsOf(block)]));
  });
});

describe('the quick start', () => {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'devs-guide-'));
  const printed: unknown[] = [];

  beforeEach(() => {
    process.chdir(folder);
    vi.spyOn(console, 'log').mockImplementation((line: unknown) => void printed.push(line));
  });

  afterEach(() => {
    process.chdir(before);
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true, force: true });
  });

  test('calls the model once, waits, and publishes once', async () => {
    const { app } = await import('./posts/post.ts');
    for (const _ of ['first', 'again']) {
      const { status, gates } = await app.run('post-42', { topic: 'green tea' });
      expect(status).toBe('waiting');
      expect(gates.map(({ artifact }) => artifact)).toEqual([{ text: 'Five facts about green tea' }]);
    }
    for (const gate of await app.gates('post-42'))
      await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
    const { status, values } = await app.run('post-42');
    app.close();
    expect([status, values?.url]).toEqual(['completed', 'https://example.org/26']);
    expect(printed).toEqual([
      'calling the model',
      expect.stringMatching(/^publishing with idempotency key /),
    ]);
  });
});

test('the page for users of plain LangGraph: a waiting thread is carried over, and back', async () => {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'devs-guide-'));
  process.chdir(folder);
  try {
    const { begin, builder, carryOver, goBack } = await import('./fromLanggraph.ts');
    const ada = { kind: 'human', id: 'ada' } as const;
    expect(await begin(ada)).toMatchObject({ status: 'waiting', values: { answer: 'yes' } });
    const old = SqliteSaver.fromConnString('checkpoints.sqlite');
    const config = { configurable: { thread_id: 'post-42' } };
    await builder.compile({ checkpointer: old }).invoke({ topic: 'tea' }, config);
    expect(await carryOver('carried.sqlite', ada)).toEqual({ result: 'imported', open: 1 });
    expect((await goBack('carried.sqlite', new MemorySaver())).values).toEqual({
      topic: 'tea',
      answer: 'yes',
    });
    old.db.close();
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  }
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const CORE = pathToFileURL(fileURLToPath(new URL('../../core/src/index.ts', import.meta.url))).href;
const LANGGRAPH = import.meta.resolve('@langchain/langgraph');

let modules = 0;

/** A module as a user has it: an app whose run waits at a gate, and a webhook without a receiver. */
function moduleIn(dir: string): string {
  // A command closes the apps of its module, and a module is imported once.
  modules += 1;
  const file = join(dir, `app${modules}.mjs`);
  writeFileSync(
    file,
    `import { durable } from ${JSON.stringify(CORE)};
import { Annotation, START, StateGraph } from ${JSON.stringify(LANGGRAPH)};
const State = Annotation.Root({ topic: Annotation() });
const graph = new StateGraph(State).addNode('publish', () => ({})).addEdge(START, 'publish');
export const make = () => durable(graph, {
  file: ${JSON.stringify(join(dir, 'app.sqlite'))},
  name: 'posts',
  gates: { publish: () => 'a post' },
  webhooks: { team: { url: 'http://127.0.0.1:9/secretpart', secret: 'a secret of the receiver' } },
});
export default make();
`,
  );
  return file;
}

interface Made {
  make(): {
    run(id: string, input: object): Promise<unknown>;
    sendWebhooks(options: object): Promise<void>;
    close(): PromiseLike<void>;
  };
}

describe('devs webhooks', () => {
  test('lists what was not delivered, without the address', async ({ dir }) => {
    expect((await callMain(dir, ['webhooks', moduleIn(dir)])).stdout).toBe('every event was delivered\n');
    const app = ((await import(pathToFileURL(moduleIn(dir)).href)) as Made).make();
    await app.run('post-1', {});
    await app.sendWebhooks({ wait: false });
    await app.close();
    const listed = await callMain(dir, ['webhooks', moduleIn(dir)]);
    expect(listed.stdout).toMatch(
      /^team: event \d+ \(HITL_SESSION_OPENED\) of post-1: 1 attempts, next attempt at \S+: the request failed: .+\n$/,
    );
    expect(listed.stdout).not.toContain('secretpart');
    const again = await callMain(dir, ['webhooks', moduleIn(dir), '--again', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject([{ target: 'team', threadId: 'post-1' }]);
  });
});

describe('devs schedule', () => {
  test('adds, lists and removes a schedule', async ({ dir }) => {
    const call = (...argv: string[]) => callMain(dir, ['schedule', moduleIn(dir), ...argv]);
    const times = ['--cron', '0 8 * * 1-5', '--time-zone', 'Europe/Berlin'];
    const made = await call('report', ...times, '--input', '{"topic":"a"}', '--json');
    expect(made.stderr).toBe('');
    expect(JSON.parse(made.stdout)).toMatchObject({ id: 'report', times: { cron: '0 8 * * 1-5' } });
    expect((await call()).stdout).toMatch(
      /^report: 0 8 \* \* 1-5 \(Europe\/Berlin\), next \S+, no run yet\n$/,
    );
    expect((await call('report', '--remove')).stdout).toBe('report was removed\n');
    expect((await call('report', '--remove')).exitCode).toBe(4);
    expect((await call()).stdout).toBe('no schedules\n');
  });

  test.for([
    [['report', '--every', '15m'], 'input'],
    [['report', '--every', 'soon', '--input', '{}'], 'duration'],
    [['report', '--input', '{}'], 'cron'],
    [['report', '--cron', '0 8 * * *', '--input', '{'], 'JSON'],
    [['report', '--cron', 'daily', '--input', '{}'], 'cron'],
    [['report', '--every', '15m', '--input', '{}', '--app', 'other'], 'Which app'],
  ] as const)('refuses %j', async ([argv, said], { dir }) => {
    const { exitCode, stderr } = await callMain(dir, ['schedule', moduleIn(dir), ...argv]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(said);
  });
});

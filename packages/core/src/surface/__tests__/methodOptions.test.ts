import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Orchestrator } from '../Orchestrator.ts';
import type { Run } from '../Run.ts';

const gate = { sessionId: 's', artifactHash: 'h' };

function emptyFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-options-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return dir;
}

async function opened(): Promise<Orchestrator> {
  const devs = await Orchestrator.open({ dir: emptyFolder() });
  onTestFinished(() => devs.close());
  return devs;
}

type Call<On> = (on: On, options: never) => Promise<unknown>;

const OF_ALL: readonly (readonly [method: string, wrong: string, right: string, call: Call<Orchestrator>])[] =
  [
    ['start', 'docInBranch', 'docsInBranch', (devs, options) => devs.start(options)],
    ['list', 'idPrefx', 'idPrefix', (devs, options) => devs.list(options)],
    ['openGates', 'limt', 'limit', (devs, options) => devs.openGates(options)],
    ['remove', 'forse', 'force', (devs, options) => devs.remove('r', options)],
    ['collect', 'workspce', 'workspace', (devs, options) => devs.collect(options)],
    ['compact', 'maxMS', 'maxMs', (devs, options) => devs.compact(options)],
    ['news', 'threadID', 'threadId', (devs, options) => devs.news(options)],
  ];

const OF_RUNS: readonly (readonly [method: string, wrong: string, right: string, call: Call<Run>])[] = [
  ['resume', 'untl', 'until', (run, options) => run.resume(options)],
  ['resume', 'sginal', 'signal', (run, options) => run.resume(options)],
  ['pause', 'abrot', 'abort', (run, options) => run.pause(options)],
  ['cancel', 'bye', 'by', (run, options) => run.cancel(options)],
  ['log', 'afterSek', 'afterSeq', (run, options) => run.log(options)],
  ['checkpoints', 'befor', 'before', (run, options) => run.checkpoints(options)],
  ['transcript', 'stge', 'stage', (run, options) => run.transcript(options)],
  ['prune', 'keepLst', 'keepLast', (run, options) => run.prune(options)],
  ['quotableSections', 'cod', 'code', (run, options) => run.quotableSections(gate as never, options)],
  ['ask', 'sginal', 'signal', (run, options) => run.ask(gate, 'Why?', options)],
  ['acceptGraph', 'rename', 'renamed', (run, options) => run.acceptGraph(options)],
  ['revive', 'bye', 'by', (run, options) => run.revive(options)],
  ['adopt', 'mesage', 'message', (run, options) => run.adopt(options)],
  ['sync', 'bye', 'by', (run, options) => run.sync(options)],
  ['rewind', 'reson', 'reason', (run, options) => run.rewind('T1', options)],
  ['undoRewind', 'reson', 'reason', (run, options) => run.undoRewind(options)],
];

const unknown = (what: string, wrong: string, right: string): TypeError =>
  new TypeError(`${what}: there is no option \`${wrong}\`. Did you mean \`${right}\`?`);

describe('a mistyped option is refused, with the nearest that there is', () => {
  test('by Orchestrator.open, before a file is made', async () => {
    const dir = join(emptyFolder(), 'new');
    const opening = Orchestrator.open({ dir, readonly: true } as never);
    await expect(opening).rejects.toEqual(unknown('Orchestrator.open()', 'readonly', 'readOnly'));
    await expect(Orchestrator.open({ dir, readOnly: true })).rejects.toMatchObject({
      code: 'STATE_IO',
    });
  });

  test('by each method of an orchestrator', async () => {
    const devs = await opened();
    for (const [method, wrong, right, call] of OF_ALL)
      await expect(call(devs, { [wrong]: 1 } as never)).rejects.toEqual(
        unknown(`devs.${method}()`, wrong, right),
      );
    expect(await devs.ids()).toEqual([]);
  });

  test('by each method of a run, which is unchanged', async () => {
    const devs = await opened();
    const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
    const before = await run.status();
    for (const [method, wrong, right, call] of OF_RUNS)
      await expect(call(run, { [wrong]: 1 } as never)).rejects.toEqual(
        unknown(`run.${method}()`, wrong, right),
      );
    expect(await run.status()).toEqual(before);
  });
});

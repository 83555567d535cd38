import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import * as streaming from '../../../../examples/graphs/streaming.ts';
import { openWorld } from '../../../../examples/graphs/support/world.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';

describe('an example', () => {
  test('is watched from another process, while it runs and again later', async ({ dbPath }) => {
    const dir = dirname(dbPath);
    const world = openWorld({ ledger: join(dir, 'ledger.jsonl'), model: streaming.model });
    const app = streaming.app(join(dir, 'state.sqlite'), world);
    await internalsOf(app).recordRun({ threadId: 'run', input: streaming.input });
    const watching = spawnProgram('examples/graphs/watch.ts', ['streaming', dir]);
    await app.run('run');
    app.close();
    const { stdout, stderr } = await watching.finished;
    expect(stderr).toBe('');
    const lines = stdout.split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as { mode: string }).mode)).toEqual([
      ...['custom', 'custom', 'custom', 'updates', 'custom', 'updates', 'end'],
    ]);
    const [, fourth] = lines.slice(2);
    const { seq } = JSON.parse(fourth ?? '') as { seq: number };
    const again = spawnProgram('examples/graphs/watch.ts', ['streaming', dir, String(seq)]);
    expect((await again.finished).stdout.split('\n').slice(0, -1)).toEqual(lines.slice(4));
  });
});

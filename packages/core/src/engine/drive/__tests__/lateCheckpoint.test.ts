import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { ofOneFile } from '../../../../test/support/runs/where.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';

describe('a process killed between what a task wrote and the checkpoint that leads to', () => {
  test(
    'has run the node once: the next driver applies what it wrote',
    ofOneFile('shares the file'),
    async ({ db, dbPath }) => {
      const copy = join(dbPath, '..', 'copy.sqlite');
      const app = durable(twoSteps(), { db, durability: 'sync' });
      app.events.on('NODE_FINISHED', ({ node }) => {
        if (node !== 'first') return;
        for (const suffix of ['', '-wal']) copyFileSync(dbPath + suffix, copy + suffix);
      });
      await app.run('run', {});

      const found = createDatabase({ dbPath: copy });
      found.exec("UPDATE threads SET lease_owner = '2147483647:1'"); // of nobody alive
      const first = found
        .prepare("SELECT node_name || ' ' || turn_type FROM langgraph_checkpoints ORDER BY rowid")
        .pluck()
        .all();
      const metadata = found.prepare('SELECT metadata FROM checkpoints').pluck().all().map(String);
      expect([first, metadata.filter((text) => text.includes('"loop"')).length]).toEqual([
        ['first Thought', 'first Action'],
        1,
      ]);
      const again: string[] = [];
      const noted = (name: string) => () => {
        again.push(name);
        return { log: [name] };
      };
      const taken = durable(twoSteps(noted('first'), noted('second')), { db: found });
      expect((await taken.run('run')).values?.log).toEqual(['first', 'second']);
      expect(again).toEqual(['second']);
      found.close();
    },
  );
});

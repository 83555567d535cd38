import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import { describe, expect } from 'vitest';
import { tablesOf } from '../../core/test/support/insides.ts';
import { wholeLog } from '../src/project/wholeLog.ts';
import { storyLines } from '../src/render/storyLines.ts';
import { lineText } from '../src/terminal/Line.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

/** More than two pages; the label of the last is the longest. */
const EVENTS = 2500;

async function aLongLog(dir: string): Promise<void> {
  const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
  await devs.start({ id: 'r', brief: '# B' });
  devs.close();
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  const { events } = tablesOf(db);
  db.transaction(() => {
    for (let n = 1; n <= EVENTS; n += 1) {
      const payload = { sessionId: `s-${n}`, kind: 'review', taskId: `r:${n}` } as const;
      events.append('HITL_SESSION_OPENED', payload, { threadId: 'r', taskId: `r:${n}` });
    }
  }).immediate();
  db.close();
}

/** The log as a command prints it, in how many pieces, and what is in it. */
async function logOf(dir: string, flags: readonly string[]) {
  await aLongLog(dir);
  let [pieces, longest] = [0, 0];
  const onWrite = (text: string): void => {
    pieces += text.length > 100 ? 1 : 0;
    longest = Math.max(longest, text.length);
  };
  const { stdout } = await callMain(dir, ['log', 'r', ...flags], { onWrite });
  const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
  const entries = await wholeLog(await devs.run('r'));
  devs.close();
  return { stdout, pieces, longest, entries };
}

describe('a long log is told page by page', () => {
  test('as the lines that all of it together has', async ({ dir }) => {
    const { stdout, pieces, longest, entries } = await logOf(dir, []);
    expect(stdout).toBe(
      storyLines(entries)
        .map((line) => `${lineText(line)}\n`)
        .join(''),
    );
    expect(pieces).toBe(3);
    expect(longest).toBeLessThan(stdout.length / 2);
  });

  test('as the JSON that all of it together is', async ({ dir }) => {
    const { stdout, pieces, longest, entries } = await logOf(dir, ['--json']);
    expect(stdout).toBe(`${JSON.stringify(entries, null, 2)}\n`);
    expect(entries).toHaveLength(EVENTS);
    expect(pieces).toBe(3);
    expect(longest).toBeLessThan(stdout.length / 2);
  });

  test('and one without a line says so', async ({ dir }) => {
    const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
    await devs.start({ id: 'r', brief: '# B' });
    devs.close();
    const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
    db.prepare('DELETE FROM events').run();
    db.close();
    expect((await callMain(dir, ['log', 'r'])).stdout).toBe('There are no events yet.\n');
    expect((await callMain(dir, ['log', 'r', '--json'])).stdout).toBe('[]\n');
  });
});

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, step } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const RUN = 'mail-7';
const Mails = Annotation.Root({
  sent: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** Drives two branches of a subgraph, which both send a mail; the left one asks before. */
async function drive(dir: string, made: string[]) {
  mkdirSync(join(dir, '.devs'), { recursive: true, mode: 0o700 });
  const send = async (to: string) => ({
    sent: [
      await step('send', () => {
        made.push(to);
        return to;
      }),
    ],
  });
  const inner = new StateGraph(Mails)
    .addNode('left', () => {
      interrupt('Send it?');
      return send('left');
    })
    .addNode('right', () => send('right'))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .compile();
  const builder = new StateGraph(Mails).addNode('mails', inner).addEdge(START, 'mails').addEdge('mails', END);
  const app = durable(builder, { file: join(dir, '.devs', 'state.sqlite') });
  try {
    return await app.run(RUN, {});
  } finally {
    app.close();
  }
}

/** Records the steps as version 0.1.0 did: under the task of the outer node. */
function asBefore(dir: string): void {
  const db = createDatabase({ dbPath: join(dir, '.devs', 'state.sqlite') });
  db.exec(
    "UPDATE agent_steps SET lg_task_id = substr(lg_task_id, 1, instr(lg_task_id || '/', '/') - 1), seal = NULL",
  );
  db.close();
}

describe('a call that an older version recorded without its place', () => {
  test.for([
    ['--use', 'recorded result used', ['right']],
    ['--repeat', 'call will be repeated', ['right', 'left']],
  ] as const)('is shown, and answered with %s', async ([flag, said, calls], { dir }) => {
    const made: string[] = [];
    await drive(dir, made);
    asBefore(dir);
    await callMain(dir, ['show', RUN]);
    await callMain(dir, ['answer', RUN, '--value', 'true', '--by', 'ada']);
    expect((await drive(dir, made)).status).toBe('waiting');

    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toContain(': recorded call of mail-7\n');
    expect(stdout).toContain('Is it the call of mails > left?\n');
    expect(stdout).toContain('"result": "right"');
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --use$/m);
    const approved = await callMain(dir, ['approve', RUN]);
    expect(approved).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('--repeat') });
    const both = await callMain(dir, ['answer', RUN, '--use', '--repeat']);
    expect(both).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('use and repeat are different answers'),
    });

    const answered = await callMain(dir, ['answer', RUN, flag, '--by', 'ada']);
    expect(answered.stdout).toContain(`${said}: recorded call of mail-7, hash `);
    expect(answered.stdout).toContain('by ada');
    expect((await drive(dir, made)).status).toBe('completed');
    expect(made).toEqual(calls);
  });
});

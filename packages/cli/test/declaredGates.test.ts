import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { durable } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const RUN = 'release-2';
const Release = Annotation.Root({ notes: Annotation<string>(), price: Annotation<number>() });

/** Drives a graph of one's own in a project, up to its next gate. */
async function drive(dir: string, gate: 'votes' | 'value') {
  mkdirSync(join(dir, '.devs'), { recursive: true, mode: 0o700 });
  const builder = new StateGraph(Release).addNode('publish', () => ({})).addEdge(START, 'publish');
  const show = ({ notes }: typeof Release.State) => notes;
  const app = durable(builder, {
    file: join(dir, '.devs', 'state.sqlite'),
    gates: {
      publish:
        gate === 'votes'
          ? { show, approvals: { of: ['ada', 'bob'], count: 2 } }
          : { show, answer: z.int(), onAnswer: (_state, price) => ({ price: Number(price) }) },
    },
  });
  try {
    return await app.run(RUN, { notes: 'Faster' });
  } finally {
    app.close();
  }
}

describe('a gate that two have to approve', () => {
  test('says how many have, and is open until the second', async ({ dir }) => {
    await drive(dir, 'votes');
    const shown = await callMain(dir, ['show', RUN]);
    expect(shown.stdout).toContain('approved 0 of 2; one no rejects\nwho may: ada, bob\n');
    const first = await callMain(dir, ['approve', RUN, '--by', 'ada']);
    expect(first).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('approved, 1 of 2: next step of'),
    });
    expect(first.stdout).toContain('by ada\nrecorded; the gate stays open, 1 more needed\n');
    expect((await drive(dir, 'votes')).status).toBe('suspended');

    const stranger = await callMain(dir, ['approve', RUN, '--by', 'eve']);
    expect(stranger).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('MAY_NOT_APPROVE') });
    const again = await callMain(dir, ['approve', RUN, '--by', 'ada', '--json']);
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ decision: null, votes: 1, needed: 2 });

    const second = await callMain(dir, ['approve', RUN, '--by', 'bob']);
    expect(second).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('approved: next step of') });
    expect((await drive(dir, 'votes')).status).toBe('completed');
    expect((await callMain(dir, ['log', RUN])).stdout).toContain('approval 1 of 2: next step, by human:ada');
  });
});

describe('a gate that asks for a value', () => {
  test('is shown with its schema, and takes no plain yes', async ({ dir }) => {
    await drive(dir, 'value');
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toContain('The value has to fit this JSON Schema:\n');
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --value/m);
    const yes = await callMain(dir, ['approve', RUN]);
    expect(yes).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('--value') });
    const unfit = await callMain(dir, ['answer', RUN, '--value', '"dear"']);
    expect(unfit).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('INVALID_ANSWER') });
    const answered = await callMain(dir, ['answer', RUN, '--value', '7', '--by', 'ada']);
    expect(answered).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('answered: next step of'),
    });
    expect(await drive(dir, 'value')).toMatchObject({ status: 'completed', values: { price: 7 } });
  });
});

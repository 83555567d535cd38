import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DurableOptions, durable, sleep, waitFor } from '@devs/core/langgraph';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

type GateOf = NonNullable<DurableOptions<typeof Release.State>['gates']>[string];

const RUN = 'release-2';
const Release = Annotation.Root({ notes: Annotation<string>(), price: Annotation<number>() });

/** Drives a graph of one's own in a project, up to its next gate. */
async function drive(dir: string, gate: keyof typeof GATES) {
  return driveNode(dir, () => ({}), { publish: GATES[gate] });
}

const show = ({ notes }: typeof Release.State) => notes;
const GATES = {
  votes: { show, approvals: { of: ['ada', 'bob'], count: 2 } },
  value: { show, answer: z.int(), onAnswer: (_state, price) => ({ price: Number(price) }) },
  edit: { show, edit: (_state, notes) => ({ notes: String(notes) }) },
} satisfies Readonly<Record<string, GateOf>>;

type Node = () => Partial<typeof Release.Update> | Promise<Partial<typeof Release.Update>>;
type Gates = Readonly<Record<string, GateOf>>;

async function driveNode(dir: string, publish: Node, gates: Gates = {}) {
  mkdirSync(join(dir, '.devs'), { recursive: true, mode: 0o700 });
  const builder = new StateGraph(Release).addNode('publish', publish).addEdge(START, 'publish');
  const app = durable(builder, { file: join(dir, '.devs', 'state.sqlite'), gates });
  try {
    return await app.run(RUN, { notes: 'Faster' });
  } finally {
    app.close();
  }
}

describe('a run of a graph of one’s own', () => {
  test('is resumed by its program, and the command says how', async ({ dir }) => {
    await drive(dir, 'edit');
    await callMain(dir, ['show', RUN]);
    const resume = `app.run("${RUN}") in your program`;
    expect((await callMain(dir, ['approve', RUN])).stdout).toContain(`recorded; to resume: ${resume}\n`);
    expect((await callMain(dir, ['status', RUN])).stdout).toContain(`resume:  ${resume}\n`);
  });
});

describe('a gate that two have to approve', () => {
  test('says how many have, and is open until the second', async ({ dir }) => {
    await drive(dir, 'votes');
    const shown = await callMain(dir, ['show', RUN]);
    expect(shown.stdout).toContain('approved 0 of 2; one rejection is final\napprovers: ada, bob\n');
    const first = await callMain(dir, ['approve', RUN, '--by', 'ada']);
    expect(first).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('approved, 1 of 2: node approval of'),
    });
    expect(first.stdout).toContain('by ada\nrecorded; the gate stays open until 1 more approve\n');
    expect((await drive(dir, 'votes')).status).toBe('waiting');

    const stranger = await callMain(dir, ['approve', RUN, '--by', 'eve']);
    expect(stranger).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('MAY_NOT_APPROVE') });
    const again = await callMain(dir, ['approve', RUN, '--by', 'ada', '--json']);
    expect(again.exitCode).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ decision: null, votes: 1, needed: 2 });

    const second = await callMain(dir, ['approve', RUN, '--by', 'bob']);
    expect(second).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('approved: node approval of'),
    });
    expect((await drive(dir, 'votes')).status).toBe('completed');
    expect((await callMain(dir, ['log', RUN])).stdout).toContain(
      'approval 1 of 2: node approval, by human:ada',
    );
  });
});

describe('a gate that asks for a value', () => {
  test('is shown with its schema, and takes no plain yes', async ({ dir }) => {
    await drive(dir, 'value');
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toContain('The value must match this JSON Schema:\n');
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --value/m);
    const yes = await callMain(dir, ['approve', RUN]);
    expect(yes).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('--value') });
    const unfit = await callMain(dir, ['answer', RUN, '--value', '"dear"']);
    expect(unfit).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('INVALID_ANSWER') });
    const answered = await callMain(dir, ['answer', RUN, '--value', '7', '--by', 'ada']);
    expect(answered).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('answered: node approval of'),
    });
    expect(await drive(dir, 'value')).toMatchObject({ status: 'completed', values: { price: 7 } });
  });
});

describe('a gate that takes a version of one’s own', () => {
  test('says how it is given, and goes on with it', async ({ dir }) => {
    await drive(dir, 'edit');
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toMatch(
      /^version: continue with your edited version, as JSON\n {2}devs answer .* --edit '"your text"'$/m,
    );
    const editor = await callMain(dir, ['edit', RUN, '--out', 'notes.json']);
    expect(editor).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('--edit') });
    const unquoted = await callMain(dir, ['answer', RUN, '--edit', 'Faster']);
    expect(unquoted).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`--edit '"a text"'`) });
    const both = await callMain(dir, ['answer', RUN, '--edit', '1', '--value', '1']);
    expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('different answers') });
    const edited = await callMain(dir, ['answer', RUN, '--edit', '"Faster, and fixed"', '--by', 'ada']);
    expect(edited).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('edited and approved: node approval of'),
    });
    const { status, values } = await drive(dir, 'edit');
    expect([status, values?.notes]).toEqual(['completed', 'Faster, and fixed']);
  });

  test('is approved as it was read, and by nobody who has not read it', async ({ dir }) => {
    await drive(dir, 'edit');
    const unread = await callMain(dir, ['answer', RUN, '--edit', '"Mine"']);
    expect(unread).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('GATE_STALE') });
  });

  test.for(['votes', 'value'] as const)('is not a gate with %s', async (gate, { dir }) => {
    await drive(dir, gate);
    await callMain(dir, ['show', RUN]);
    const edited = await callMain(dir, ['answer', RUN, '--edit', '"Mine"', '--by', 'ada']);
    expect(edited).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('INVALID_ANSWER') });
  });
});

describe('a run that waits for no human', () => {
  test('says for what, and until when', async ({ dir }) => {
    const hour = new Date('2999-01-04T08:00:00Z');
    await driveNode(dir, async () => {
      await Promise.all([waitFor('paid'), sleep(hour)]);
      return {};
    });
    const words = 'waiting for signal "paid", until 2999-01-04T08:00:00.000Z';
    expect((await callMain(dir, ['status', RUN])).stdout).toContain(`status   ${words}\n`);
    expect((await callMain(dir, ['status'])).stdout).toContain(words);
  });
});

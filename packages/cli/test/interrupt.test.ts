import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const RUN = 'mail-7';
const Mail = Annotation.Root({ mail: Annotation<string>(), sent: Annotation<unknown>() });

/** Drives a graph of one's own in a project, up to its next question. */
async function drive(dir: string, responseSchema?: z.ZodType) {
  mkdirSync(join(dir, '.devs'), { recursive: true, mode: 0o700 });
  const builder = new StateGraph(Mail)
    .addNode('send', ({ mail }) => ({
      sent: interrupt({ send: mail }, responseSchema && { responseSchema }),
    }))
    .addEdge(START, 'send')
    .addEdge('send', END);
  const app = durable(builder, { file: join(dir, '.devs', 'state.sqlite') });
  try {
    return await app.run(RUN, { mail: 'Dear Grace' });
  } finally {
    app.close();
  }
}

describe('a question of interrupt()', () => {
  test('is shown with what was passed, the schema, and how to answer', async ({ dir }) => {
    await drive(dir, z.object({ to: z.string() }));
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toContain(': question of mail-7\n');
    expect(stdout).toContain('"send": "Dear Grace"');
    expect(stdout).toContain('The value must match this JSON Schema:\n');
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --value '"yes"'$/m);
  });

  test.for([
    ['false', false],
    ['null', null],
    ['0', 0],
    ['""', ''],
    ['{ "decisions": [{ "type": "approve" }] }', { decisions: [{ type: 'approve' }] }],
  ] as const)('is answered with --value %s, and the call returns it', async ([json, value], { dir }) => {
    await drive(dir);
    await callMain(dir, ['show', RUN]);
    const answered = await callMain(dir, ['answer', RUN, '--value', json, '--by', 'ada']);
    expect(answered.stdout).toContain('answered: question of mail-7, hash ');
    expect(await drive(dir)).toMatchObject({ status: 'completed', values: { sent: value } });
  });

  test('is not answered by a text that is no JSON, an approval or what its schema does not take', async ({
    dir,
  }) => {
    await drive(dir, z.object({ to: z.string() }));
    await callMain(dir, ['show', RUN]);
    const unquoted = await callMain(dir, ['answer', RUN, '--value', 'yes']);
    expect(unquoted).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`--value '"a text"'`) });
    const approved = await callMain(dir, ['approve', RUN]);
    expect(approved).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('--value') });
    const unfit = await callMain(dir, ['answer', RUN, '--value', '{ "to": 7 }']);
    expect(unfit).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('value.to') });
    expect((await drive(dir)).status).toBe('waiting');
  });

  test('is answered by the file that devs show --md prints', async ({ dir }) => {
    await drive(dir);
    const { stdout } = await callMain(dir, ['show', RUN, '--md']);
    const blocks = [...stdout.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => json as string);
    const decision = JSON.parse(blocks.at(-1) ?? '{}') as Pick<Gate, 'artifact'>;
    const file = join(dir, 'decision.json');
    writeFileSync(file, JSON.stringify({ ...decision, value: ['ada'], by: 'ada' }));
    expect(await callMain(dir, ['approve', '--from', file])).toMatchObject({ exitCode: 0 });
    expect(await drive(dir)).toMatchObject({ status: 'completed', values: { sent: ['ada'] } });
  });
});

import { join } from 'node:path';
import { type Gate, Orchestrator } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

// Made up here, so that no scanner finds them in this file.
const made = (char: string, count: number): string => `${char}7Q`.repeat(count).slice(0, count);
/** Known by its shape, and masked before it enters the state. */
const TOKEN = `ghp_${made('m', 36)}`;
/** Known by the name before it: it is in the state, as prose is, and where a gate shows what is approved. */
const NAMED = made('n', 14);
const SAID = `The key is ${TOKEN}, the rest needs password=${NAMED}`;

test('no command shows a secret that a model said, but for what a gate has to show', async ({ dir }) => {
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: {
      ...fakeAgents(),
      design: async () => ({ documents: [{ type: 'PRD', title: SAID, content: SAID }] }),
      distill: async () => {
        throw new Error(`401 for ${TOKEN}: password=${NAMED}`);
      },
    },
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id: 'canary', brief: `# Use ${TOKEN}\n\nWith password=${NAMED}.\n` });
  await run.resume();
  const atGate = [await callMain(dir, ['gates', '--json'])];
  const [gate] = JSON.parse(atGate[0]?.stdout ?? '') as Gate[];
  atGate.push(await callMain(dir, ['show', gate?.sessionId ?? '']));
  for (const { stdout } of atGate) {
    expect(stdout).toContain(`The key is [REDACTED:github], the rest needs password=${NAMED}`);
    expect(stdout).not.toContain(TOKEN);
  }

  const shown = [await callMain(dir, ['approve', gate?.sessionId ?? ''])];
  await run.resume();
  devs.close();
  for (const argv of [['status'], ['status', 'canary'], ['log', 'canary'], ['gates']]) {
    shown.push(await callMain(dir, argv), await callMain(dir, [...argv, '--json']));
  }
  expect(shown.map(({ stdout }) => stdout).join('')).toContain(
    '401 for [REDACTED:github]: [SECRET=REDACTED]',
  );
  for (const { stdout, stderr } of shown) {
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(stdout + stderr).not.toContain(NAMED);
  }
});

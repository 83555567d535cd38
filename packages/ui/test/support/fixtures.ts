import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator, type OrchestratorOptions, type Run } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { test as base, onTestFinished } from 'vitest';
import { createUi, type UiOptions } from '../../src/createUi.ts';
import { type Loopback, serveOnLoopback } from '../../src/node/serveOnLoopback.ts';
import { OneTimeCodes } from '../../src/session/OneTimeCodes.ts';

export const ADA = { kind: 'human', id: 'ada' } as const;

interface Fixtures {
  /** An empty folder for a state file, removed afterwards. */
  dir: string;
}

/** Vitest's `test` with a folder. */
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires destructuring here
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-ui-'));
    await use(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  },
});

/** The pipeline on the folder, with agents that answer at once; closed after the test. */
export async function openShop(
  dir: string,
  agents: OrchestratorOptions['agents'] = fakeAgents({ tasks: 2 }),
) {
  const devs = await Orchestrator.open({
    dir,
    agents,
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());
  return devs;
}

/** A run that waits for a person to read its design. */
export async function waitingRun(dir: string, agents?: OrchestratorOptions['agents']): Promise<Run> {
  const devs = await openShop(dir, agents);
  const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
  await run.drive();
  return run;
}

export interface Served extends Loopback {
  /** Printed so far, the newest last. */
  readonly codes: readonly string[];
  readonly origin: string;
}

/** The page on a free port, as `devs ui` serves it; ended after the test. */
export async function serve(dir: string, options: Partial<UiOptions> = {}): Promise<Served> {
  const codes: string[] = [];
  const { identify, signIn } = new OneTimeCodes({ by: ADA, onCode: (code) => codes.push(code) });
  const loopback = await serveOnLoopback({
    port: 0,
    handler: (hosts) =>
      createUi({ dir, hosts, identify, signIn, readAsset: async (name) => name, ...options }),
  });
  onTestFinished(() => loopback.close());
  return { ...loopback, codes, origin: `http://localhost:${loopback.port}` };
}

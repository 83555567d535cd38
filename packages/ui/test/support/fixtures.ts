import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator, type OrchestratorOptions, type Run } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { test as base, beforeAll, onTestFinished } from 'vitest';
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

/** Before the first test of a file: the engine is loaded by whoever first drives, and no test should wait for it. */
beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'devs-ui-'));
  (await openWith(dir, fakeAgents())).close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
});

const openWith = (dir: string, agents: NonNullable<OrchestratorOptions['agents']>): Promise<Orchestrator> =>
  Orchestrator.open({ dir, agents, workspace: new MemoryWorkspace(), checks: scriptedChecks() });

/** The pipeline on the folder, with agents that answer at once; closed after the test. */
export async function openShop(
  dir: string,
  agents: NonNullable<OrchestratorOptions['agents']> = fakeAgents({ tasks: 2 }),
) {
  const devs = await openWith(dir, agents);
  onTestFinished(() => devs.close());
  return devs;
}

/** A run that waits for a person to read its design. */
export async function waitingRun(dir: string, agents?: OrchestratorOptions['agents']): Promise<Run> {
  const devs = await openShop(dir, agents);
  const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
  await run.resume();
  return run;
}

const HOST = 'inbox.example.org';

/** The handler as another server mounts it, with a login of its own. */
export function mounted(dir: string, options: Partial<UiOptions> = {}) {
  const ui = createUi({ dir, hosts: [HOST], base: '/inbox', identify: () => ADA, ...options });
  const headers = {
    origin: `https://${HOST}`,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  };
  const ask = (path: string, init: RequestInit = {}) =>
    ui(new Request(`https://${HOST}${path}`, { headers, ...init }));
  const post = (path: string, body: unknown) => ask(path, { method: 'POST', body: JSON.stringify(body) });
  const errorAt = async (answer: Promise<Response>) =>
    ((await (await answer).json()) as { error: { code: string; remedy: string } }).error;
  return { ask, post, errorAt };
}

export interface Served extends Loopback {
  /** Printed so far, the newest last. */
  readonly codes: readonly string[];
  readonly origin: string;
}

/** The page on a free port, as `devs ui` serves it; ended after the test. */
export async function serve(dir: string | undefined, options: Partial<UiOptions> = {}): Promise<Served> {
  const codes: string[] = [];
  const { identify, signIn } = new OneTimeCodes({ by: ADA, onCode: (code) => codes.push(code) });
  const loopback = await serveOnLoopback({
    port: 0,
    handler: (hosts) =>
      createUi({
        ...(dir !== undefined && { dir }),
        ...{ hosts, identify, signIn, readAsset: async (name) => name, ...options },
      }),
  });
  onTestFinished(() => loopback.close());
  return { ...loopback, codes, origin: `http://localhost:${loopback.port}` };
}

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import type { Run } from '../../src/surface/Run.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';
import { sha256Hex } from '../../src/values/canonicalJson.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';

const CALLS = 5;
const RUNS = howMany('DEVS_ASKS', 1);

let place = '';
const actor = new URL('actor.child.ts', import.meta.url);

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'devs-asks-'));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

interface Deed {
  readonly deed: 'ask' | 'decide' | 'drive';
  readonly question: string;
  /** Killed once it has begun to pay. */
  readonly isKilled: boolean;
  /** Begun beside the next one. */
  readonly isBeside: boolean;
}

const deeds = fc.array(
  fc.record<Deed>({
    deed: fc.constantFrom('ask', 'ask', 'ask', 'decide', 'drive'),
    question: fc.constantFrom('Why?', 'And then?'),
    isKilled: fc.boolean(),
    isBeside: fc.boolean(),
  }),
  { minLength: 5, maxLength: 7 },
);

interface Place {
  readonly dir: string;
  readonly ledger: string;
}

/** What the process said before it ended. */
function perform({ deed, question, isKilled }: Deed, { dir, ledger }: Place): Promise<string> {
  const argv = [programFile(actor), dir, ledger, deed, question, isKilled ? '60000' : '20'];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (isKilled && said.includes('asking\n')) child.kill('SIGKILL');
  });
  return new Promise((resolve) => child.on('close', () => resolve(said)));
}

const linesOf = (ledger: string): readonly string[] =>
  existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [];

interface Seen {
  /** By gate. */
  readonly hashes: ReadonlyMap<string, string>;
  /** How often an answered question had been paid for when its answer was first seen. */
  readonly answered: Map<string, number>;
}

async function assertKept(run: Run, paid: readonly string[], { hashes, answered }: Seen): Promise<void> {
  for (const { sessionId, artifactHash } of [...(await run.gates()), ...(await run.closedGates())]) {
    expect(artifactHash).toBe(hashes.get(sessionId) ?? artifactHash);
    for (const { question, answer } of await run.exchanges({ sessionId })) {
      expect(answer).toBe(`about ${question}`);
      const call = `ask shop/ask/${sessionId}/${sha256Hex(question)}`;
      const calls = paid.filter((line) => line === call).length;
      expect(calls).toBe(answered.get(call) ?? calls);
      answered.set(call, calls);
    }
  }
}

async function noteHashes(run: Run, hashes: Map<string, string>): Promise<void> {
  for (const { sessionId, artifactHash } of await run.gates()) {
    if (!hashes.has(sessionId)) hashes.set(sessionId, artifactHash);
  }
}

async function live(story: readonly Deed[]): Promise<void> {
  const dir = mkdtempSync(join(place, 'run-'));
  const at: Place = { dir, ledger: join(dir, 'ledger') };
  const devs = await Orchestrator.open({
    dir,
    agents: fakeAgents({ tasks: 1 }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  try {
    const run = await devs.start({ id: 'shop', brief: '# Shop', budget: { calls: CALLS } });
    await perform({ deed: 'drive', question: '', isKilled: false, isBeside: false }, at);
    const hashes = new Map<string, string>();
    const answered = new Map<string, number>();
    for (let index = 0; index < story.length; index += 1) {
      await noteHashes(run, hashes);
      const now = [story[index] as Deed];
      const beside = story[index + 1];
      if (now[0]?.isBeside && beside !== undefined) {
        now.push(beside);
        index += 1;
      }
      await Promise.all(now.map((deed) => perform(deed, at)));
      const paid = linesOf(at.ledger);
      await assertKept(run, paid, { hashes, answered });
      const [use] = (await run.status()).budget;
      expect(paid.length).toBeLessThanOrEqual(CALLS);
      expect(use?.spent).toBeLessThanOrEqual(CALLS);
    }
    // What died is given up, and holds nothing back once the run is driven.
    await perform({ deed: 'drive', question: '', isKilled: false, isBeside: false }, at);
    expect(await devs.verify()).toMatchObject({ ok: true });
  } finally {
    devs.close();
  }
}

describe('asking, deciding and driving side by side, with deaths', () => {
  it(
    'never changes a hash, pays for an answered question once, and stays within the budget',
    async () => {
      await fc.assert(fc.asyncProperty(deeds, live), { numRuns: RUNS, endOnFailure: true });
    },
    60_000 * RUNS,
  );
});

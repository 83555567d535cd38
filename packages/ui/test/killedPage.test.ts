import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '@devs/core';
import { describe, expect, onTestFinished } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { longer } from '../../core/test/support/longer.ts';
import { programFile } from '../../core/test/support/programFile.ts';
import { SESSION_HEADER } from '../src/session/OneTimeCodes.ts';
import { openShop, test } from './support/fixtures.ts';

/** Moments at which each is killed, from the first byte that is sent to after the answer. */
const KILLS = howMany('DEVS_PAGE_KILLS', 1);
/** Between two of them, ms: an answer takes less than all of the usual ones where nobody else works. */
const APART_MS = 10;

const server = new URL('./programs/serveShop.ts', import.meta.url);
const driver = new URL('./programs/driveShop.ts', import.meta.url);

/** A program that has begun: what it printed first. */
async function begun(program: URL, dir: string): Promise<{ child: ChildProcess; told: string }> {
  const child = spawn(process.execPath, [programFile(program), dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [told] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, told: told.toString() };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** The page, as somebody who has signed in asks it; `null` where there was no answer. */
async function signedIn(dir: string) {
  const { child, told } = await begun(server, dir);
  const { port, code } = JSON.parse(told) as { readonly port: number; readonly code: string };
  const origin = `http://localhost:${port}`;
  const ours = { origin, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const post = async (path: string, body: object, more: Record<string, string> = {}) =>
    fetch(origin + path, { method: 'POST', headers: { ...ours, ...more }, body: JSON.stringify(body) });
  const { secret } = (await (await post('/api/session', { code })).json()) as { readonly secret: string };
  const decide = async (
    gate: { readonly sessionId: string; readonly artifactHash: string },
    answer: object,
  ) => {
    const path = `/api/runs/shop/gates/${gate.sessionId}/decision`;
    const body = { artifactHash: gate.artifactHash, answer };
    try {
      const response = await post(path, body, { [SESSION_HEADER]: secret });
      return { status: response.status, text: await response.text() };
    } catch {
      return null;
    }
  };
  return { child, decide };
}

/** Sends a decision, kills the server or the driver meanwhile, and sends it again. */
async function killedTurn(victim: 'server' | 'driver', turn: number, run: Run, dir: string): Promise<void> {
  const [gate] = await run.gates();
  if (gate === undefined) throw new RangeError('Expected a gate.');
  const { documents } = gate.artifact as {
    readonly documents: readonly Record<'type' | 'content', string>[];
  };
  const [{ type, content } = { type: '', content: '' }] = documents;
  const [quote = ''] = content.split('\n');
  const answer = {
    approved: false,
    feedback: `Remark ${turn}, of some length. `.repeat(1 + turn),
    comments: [{ in: type, quote, line: 1, text: `Why this, ${turn}?` }],
  };
  const page = await signedIn(dir);
  const { child } = victim === 'server' ? page : await begun(driver, dir);
  const asked = page.decide(gate, answer);
  await sleep(APART_MS * turn);
  await kill(child);
  const first = await asked;
  const next = victim === 'server' ? await signedIn(dir) : page;
  const again = await next.decide(gate, answer);
  await kill(next.child);

  // What was answered is there; what was not is there or not, and then it was sent again.
  if (victim === 'driver' || first !== null) expect(first).toMatchObject({ status: 200 });
  if (first !== null || again?.status !== 200) expect(again?.text).toContain('GATE_');
  // Whoever drives next is given it, whole and once; a driver that was killed has left it.
  expect((await run.resume()).status).toBe('waiting');
  const past = (await run.closedGates()).filter(({ sessionId }) => sessionId === gate.sessionId);
  expect(past).toMatchObject([{ status: 'resumed', principal: 'human:ada', via: 'page', decision: answer }]);
}

describe('a decision on the page', () => {
  test.for(['server', 'driver'] as const)(
    'survives that the %s is killed at any moment, once and whole',
    { timeout: longer(60_000, KILLS) },
    async (victim, { dir }) => {
      const devs = await openShop(dir);
      const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
      await run.resume();
      for (let turn = 0; turn < KILLS; turn += 1) await killedTurn(victim, turn, run, dir);
      expect(await devs.verify()).toMatchObject({ ok: true });
    },
  );
});

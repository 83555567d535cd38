import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import type { Budget } from '../../engine/guards/Budget.ts';
import type { AnswerRequest, StageAgents } from '../../orchestration/ports.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';
import type { Run } from '../Run.ts';

const ada = { kind: 'human', id: 'ada' } as const;
const yes = { approved: true, by: ada } as const;
const withCode = (code: string) => expect.objectContaining({ code });

interface Setting {
  readonly agents?: Partial<StageAgents>;
  readonly budget?: Budget;
}

interface Asked {
  readonly calls: string[];
  readonly requests: AnswerRequest[];
}

const nobody = (): Asked => ({ calls: [], requests: [] });

/** A run `shop`; calling it again is another process that goes on. */
async function open(
  dbPath: string,
  { calls, requests }: Asked = nobody(),
  { agents = {}, budget }: Setting = {},
): Promise<Run> {
  const fake = fakeAgents({ tasks: 2, onCall: (what) => calls.push(what) });
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: {
      ...fake,
      answer: (request, call) => {
        requests.push(request);
        call.usage({ tokensIn: 100, tokensOut: 20 });
        return fake.answer?.(request, call) ?? Promise.reject(new Error('no answer'));
      },
      ...agents,
    },
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());
  return devs.start({ id: 'shop', brief: '# Shop', ...(budget && { budget }) });
}

const gateOf = async (run: Run): Promise<Gate> => only((await run.resume()).gates);

describe('asking at a gate', () => {
  test('decides nothing: gate, hash, status and checkpoint stay; the agent has what the person is shown', async ({
    dbPath,
  }) => {
    const asked = nobody();
    const run = await open(dbPath, asked);
    const gate = await gateOf(run);
    const [before, state] = [await run.status(), await run.state()];
    const said = await run.ask(gate, ' Why one document? ', { by: ada });
    expect(said).toMatchObject({
      question: 'Why one document?',
      answer: 'Answer 1 to: Why one document?',
      principal: 'human:ada',
    });
    const after = await run.status();
    expect(after.gates).toEqual([gate]);
    expect({ ...after, cost: null, updatedAt: null }).toEqual({ ...before, cost: null, updatedAt: null });
    expect(after.cost).toMatchObject({ tokensIn: 100, tokensOut: 20 });
    expect(await run.state()).toEqual(state);
    expect(only(asked.requests)).toMatchObject({
      stage: 'design',
      gate: { kind: 'design_approval', artifact: gate.artifact },
      documents: expect.arrayContaining([expect.objectContaining({ type: 'PRD' })]),
      earlier: [],
      workspace: { dir: '/memory/shop' },
    });
    expect(await run.exchanges(gate)).toEqual([said]);
  });

  test('pays for one question once, in any process, and tells what was said before', async ({ dbPath }) => {
    const asked = nobody();
    const run = await open(dbPath, asked);
    const gate = await gateOf(run);
    const first = await run.ask(gate, 'Why?', { by: ada });
    const again = await (await open(dbPath, asked)).ask(gate, 'Why?', { by: { kind: 'human', id: 'bob' } });
    expect(again).toEqual(first);
    await run.ask(gate, 'And now?', { by: ada });
    expect(asked.calls.filter((what) => what.startsWith('answer'))).toHaveLength(2);
    expect(asked.requests.at(-1)?.earlier).toEqual([{ question: 'Why?', answer: 'Answer 1 to: Why?' }]);
    expect((await run.exchanges(gate)).map(({ question }) => question)).toEqual(['Why?', 'And now?']);
  });

  test('what was said is given to the next attempt, with the feedback', async ({ dbPath }) => {
    const feedback: (string | null)[] = [];
    const fake = fakeAgents({ tasks: 2 });
    const agents: Partial<StageAgents> = {
      design: (request, call) => {
        feedback.push(request.feedback);
        return fake.design(request, call);
      },
    };
    const run = await open(dbPath, nobody(), { agents });
    const gate = await gateOf(run);
    await run.ask(gate, 'Why one document?', { by: ada });
    await run.decide(gate, { approved: false, feedback: 'Two documents', by: ada });
    const next = await gateOf(run);
    expect(feedback).toEqual([
      null,
      'Two documents\n\nA person asked about the last attempt: Why one document?\nThe answer was: Answer 1 to: Why one document?',
    ]);
    await run.decide(next, { approved: false, feedback: 'Three', by: ada });
    await run.resume();
    expect(feedback.at(-1)).toBe('Three');
  });

  test('what was said at a stuck task is guidance for its next attempt', async ({ dbPath }) => {
    const guidance: (readonly string[])[] = [];
    const fake = fakeAgents({ tasks: 1 });
    let isRight = false;
    const agents: Partial<StageAgents> = {
      implement: (request, call) => {
        guidance.push(request.guidance);
        return fake.implement(request, call);
      },
      review: async () => ({ approved: isRight, comments: 'Not yet.' }),
    };
    const asked = nobody();
    const run = await open(dbPath, asked, { agents });
    for (;;) {
      const gate = await gateOf(run);
      if (gate.kind === 'task_failure') break;
      await run.decide(gate, yes);
    }
    const [gate] = await run.gates();
    if (gate === undefined) throw new Error('No gate is open.');
    await run.ask(gate, 'What is missing?', { by: ada });
    expect(asked.requests.at(-1)).toMatchObject({ task: { name: 'Task 1' } });
    isRight = true;
    await run.decide(gate, { action: 'retry', guidance: 'Trim it', by: ada });
    await run.resume();
    expect(guidance).toContainEqual([
      'Trim it',
      expect.stringContaining('asked about the last attempt: What is missing?'),
    ]);
  });

  test('is refused before anything is paid', async ({ dbPath }) => {
    const asked = nobody();
    const run = await open(dbPath, asked);
    const gate = await gateOf(run);
    await expect(run.ask(gate, '  ', { by: ada })).rejects.toBeInstanceOf(TypeError);
    await expect(run.ask(gate, 'x'.repeat(8_001), { by: ada })).rejects.toBeInstanceOf(RangeError);
    const stale = { ...gate, artifactHash: 'a'.repeat(64) };
    await expect(run.ask(stale, 'Why?', { by: ada })).rejects.toEqual(withCode('GATE_STALE'));
    const agent = { kind: 'agent', id: 'model' } as const;
    await expect(run.ask(gate, 'Why?', { by: agent })).rejects.toEqual(withCode('AGENT_MAY_NOT_DECIDE'));
    const { answer: _, ...silent } = fakeAgents({ tasks: 2 });
    const other = await Orchestrator.open({
      dir: path.dirname(dbPath),
      agents: silent,
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
    });
    onTestFinished(() => other.close());
    const silentRun = await other.run('shop');
    await expect(silentRun.ask(gate, 'Why?', { by: ada })).rejects.toEqual(withCode('ASK_UNSUPPORTED'));
    expect(await run.askUnavailableReason(gate)).toBeNull();
    expect(await silentRun.askUnavailableReason(gate)).toContain('do not answer questions');
    await run.decide(gate, yes);
    await expect(run.ask(gate, 'Why?', { by: ada })).rejects.toEqual(withCode('GATE_ALREADY_DECIDED'));
    expect(asked.requests).toEqual([]);
  });

  test('counts before the call, and is not made when the budget is spent', async ({ dbPath }) => {
    const asked = nobody();
    const run = await open(dbPath, asked, { budget: { calls: 3 } });
    const gate = await gateOf(run);
    await run.ask(gate, 'One?', { by: ada });
    await expect(run.ask(gate, 'Two?', { by: ada })).rejects.toEqual(withCode('BUDGET_SPENT'));
    expect(asked.requests).toHaveLength(1);
    expect(await run.ask(gate, 'One?', { by: ada })).toMatchObject({ answer: 'Answer 1 to: One?' });
    expect(await run.gates()).toEqual([gate]);
  });

  test('holds the run while it asks, and a decision is taken up after it', async ({ dbPath }) => {
    let answered = (): void => {};
    const waits = new Promise<void>((resolve) => (answered = resolve));
    let begun = (): void => {};
    const begins = new Promise<void>((resolve) => (begun = resolve));
    const agents: Partial<StageAgents> = {
      answer: async () => {
        begun();
        await waits;
        return { answer: 'Because.' };
      },
    };
    const run = await open(dbPath, nobody(), { agents });
    const gate = await gateOf(run);
    const asking = run.ask(gate, 'Why?', { by: ada });
    await begins;
    const other = await open(dbPath);
    await expect(other.resume()).rejects.toEqual(withCode('THREAD_BUSY'));
    await expect(other.ask(gate, 'Why not?', { by: ada })).rejects.toEqual(withCode('THREAD_BUSY'));
    await other.decide(gate, { approved: false, feedback: 'No', by: ada });
    answered();
    expect(await asking).toMatchObject({ answer: 'Because.' });
    expect(only((await other.resume()).gates).kind).toBe('design_approval');
  });

  test('a call that fails is no answer; what it cost counts, and it may be asked again', async ({
    dbPath,
  }) => {
    let isDown = true;
    const agents: Partial<StageAgents> = {
      answer: async (_request, { usage }) => {
        usage({ tokensIn: 7, tokensOut: 0 });
        if (isDown) throw new Error('down');
        return { answer: 'Because.' };
      },
    };
    const run = await open(dbPath, nobody(), { agents });
    const gate = await gateOf(run);
    await expect(run.ask(gate, 'Why?', { by: ada })).rejects.toThrow('down');
    expect(await run.exchanges(gate)).toEqual([]);
    expect((await run.status()).cost.tokensIn).toBe(7);
    isDown = false;
    expect(await run.ask(gate, 'Why?', { by: ada })).toMatchObject({ answer: 'Because.' });
  });

  test('a secret in question or answer is masked before it rests', async ({ dbPath }) => {
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    const asked = nobody();
    const run = await open(dbPath, asked);
    const gate = await gateOf(run);
    const said = await run.ask(gate, `Is ${token} in it?`, { by: ada });
    expect(JSON.stringify([said, asked.requests, await run.log()])).not.toContain(token);
    expect(await run.log()).toContainEqual(
      expect.objectContaining({
        name: 'GATE_ASKED',
        payload: expect.objectContaining({ principal: 'human:ada' }),
      }),
    );
  });
});

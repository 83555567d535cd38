import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallUsage } from '@devs/core';
import { Orchestrator, type PivotRequest, type StageAgents } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyText } from '../callKey.ts';
import { normaliseRequest } from '../normaliseRequest.ts';
import { readRecording } from '../Recording.ts';
import { ReplayAgents } from '../ReplayAgents.ts';
import { recordingAgents } from '../recordingAgents.ts';
import { agentCall, taskRequest } from './requests.ts';

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-pivots-'));
  file = join(dir, 'recording.jsonl');
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Turns that leave one tree and are refused until the second strategy; the pivot agent repeats itself first. */
function repetitive(): StageAgents {
  const fake = fakeAgents({ tasks: 1, strategies: ['A', 'a.', 'B'] });
  return {
    ...fake,
    writeTest: (request, call) => fake.writeTest({ ...request, attempt: 0 }, call),
    implement: (request, call) => fake.implement({ ...request, attempt: 0 }, call),
    document: (request, call) => fake.document({ ...request, attempt: 0 }, call),
    review: async ({ strategy }) => ({ approved: strategy === 'B', comments: 'Not like this.' }),
  };
}

async function driveWith(agents: StageAgents, name: string) {
  const devs = await Orchestrator.open({
    dir: join(dir, name),
    agents,
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
    config: { maxRecursionDepth: 25, hitlEntropyThreshold: 1 },
  });
  const run = await devs.start({ id: 'run', brief: '# Run', gates: { design: 'auto', dag: 'auto' } });
  const { status } = await run.resume();
  const { pivots, taskAttempts } = (await run.state()) ?? {};
  devs.close();
  return { status, pivots, taskAttempts };
}

describe('a recording of a run with pivots', () => {
  it('replays to the same strategies; attempts count on, so no turn is taken for an earlier one', async () => {
    const recorded = await driveWith(recordingAgents(repetitive(), file), 'recorded');
    expect(recorded).toMatchObject({
      status: 'completed',
      taskAttempts: 7,
      pivots: [{ strategy: 'A' }, { strategy: 'B' }],
    });
    const keys = readRecording(file).calls.map(keyText);
    expect(keys.filter((key) => key.includes('pivot'))).toEqual([
      'task T1 attempt 3 pivot',
      'task T1 attempt 6 pivot',
      'task T1 attempt 6 pivotAgain',
    ]);
    expect(await driveWith(ReplayAgents.open(file), 'replayed')).toEqual(recorded);
  });

  it('gives agents that have a pivot only where one was recorded', async () => {
    const fake = fakeAgents();
    expect(recordingAgents(fake, file).pivot).toBeUndefined();
    await recordingAgents(fake, file).implement(taskRequest(), agentCall());
    expect(ReplayAgents.open(file).pivot).toBeUndefined();
  });
});

describe('the request of a pivot', () => {
  const request: PivotRequest = {
    task: { taskId: 'shop-ab12cd:1', name: 'One', description: 'First', acceptanceCriteria: [] },
    documents: [],
    attempt: 3,
    reason: 'same_error',
    tried: [{ strategy: 'A', fingerprint: 'a'.repeat(64) }],
    observations: [{ action: 'review', observation: 'No, see shop-ab12cd:1' }],
    errors: ['connect ECONNREFUSED 127.0.0.1:5000'],
    guidance: ['Mind x.'],
    refused: null,
  };

  it('is compared by what was tried, not by the words of checks and errors', () => {
    expect(normaliseRequest(request)).toEqual({
      ...request,
      task: { ...request.task, taskId: 'T1' },
      tried: [{ strategy: 'A', fingerprint: '<sha>' }],
      observations: [{ action: 'review', observation: '<output of a red check>' }],
      errors: ['<error>'],
    });
  });

  it('is answered with the recorded usage', async () => {
    const usage: CallUsage = { tokensIn: 5 };
    const response = { strategy: 'B', reason: 'Smaller.' };
    const key = { stage: 'task', task: 'T1', attempt: 3 } as const;
    const header = { format: 'devs-recording/1', label: 'scripted', name: 'demo' } as const;
    const agents = new ReplayAgents({ header, calls: [{ ...key, step: 'pivot', response, usage }] });
    const call = agentCall();
    expect(await agents.pivot?.(request, call)).toEqual(response);
    expect(call.used).toEqual([usage]);
    await expect(agents.pivot?.({ ...request, refused: 'B' }, call)).rejects.toMatchObject({
      code: 'REPLAY_MISS',
    });
  });
});

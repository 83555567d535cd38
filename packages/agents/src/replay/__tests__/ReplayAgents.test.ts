import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DesignRequest, DevsError, StageAgents } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallKey } from '../callKey.ts';
import { normaliseRequest } from '../normaliseRequest.ts';
import { readRecording } from '../Recording.ts';
import { ReplayAgents } from '../ReplayAgents.ts';
import { recordingAgents } from '../recordingAgents.ts';
import { agentCall, designRequest, researchRequest, taskRequest } from './requests.ts';

let dir: string;
let file: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devs-replay-'));
  file = join(dir, 'recording.jsonl');
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const HEADER = { format: 'devs-recording/1', label: 'scripted', name: 'demo' };
const DOCUMENTS = { documents: [{ type: 'RESEARCH', title: 'Found', content: 'Much' }] };
const WORK = {
  summary: 'Done',
  files: [
    { path: 'a.js', content: 'a' },
    { path: 'b.js', content: null },
  ],
};
const REVIEW = { approved: true, comments: 'Good' };
const PLAN = {
  requirements: [{ externalId: 'REQ-1', description: 'It slugs' }],
  epics: [
    {
      name: 'All',
      description: 'Everything',
      tasks: [
        {
          key: 'a',
          name: 'A',
          description: 'a',
          dependsOn: [],
          requirements: ['REQ-1'],
          acceptanceCriteria: ['x'],
        },
      ],
    },
  ],
};

const stageLine = (stage: string, response: unknown, rest: object = {}): object => ({
  stage,
  task: '',
  attempt: 1,
  step: 'call',
  response,
  ...rest,
});
const taskLine = (step: string, response: unknown, rest: object = {}): object => ({
  stage: 'task',
  task: 'T1',
  attempt: 1,
  step,
  response,
  ...rest,
});

async function replay(lines: readonly object[], onCall?: (key: CallKey) => void): Promise<ReplayAgents> {
  await writeFile(file, [HEADER, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return ReplayAgents.open(file, onCall === undefined ? {} : { onCall });
}

describe('ReplayAgents', () => {
  it('answers every kind of call by its key and reports the recorded usage', async () => {
    const asked: string[] = [];
    const agents = await replay(
      [
        stageLine('research', DOCUMENTS, { usage: { tokensIn: 10, tokensOut: 20, costUsd: 0.1 } }),
        stageLine('design', DOCUMENTS, { attempt: 2 }),
        stageLine('distill', PLAN),
        taskLine('test', WORK),
        taskLine('implement', WORK),
        taskLine('review', REVIEW),
        taskLine('document', WORK),
      ],
      ({ stage, task, attempt, step }) => asked.push(`${stage}/${task}/${attempt}/${step}`),
    );
    const call = agentCall();
    expect(agents).toMatchObject({ name: 'demo', provenance: 'scripted' });
    expect(await agents.research(researchRequest(), call)).toEqual(DOCUMENTS);
    expect(await agents.design(designRequest({ attempt: 2 }), call)).toEqual(DOCUMENTS);
    expect(await agents.distill(designRequest(), call)).toEqual(PLAN);
    expect(await agents.writeTest(taskRequest(), call)).toEqual(WORK);
    expect(await agents.implement(taskRequest(), call)).toEqual(WORK);
    expect(await agents.review(taskRequest(), call)).toEqual(REVIEW);
    expect(await agents.document(taskRequest(), call)).toEqual(WORK);
    expect(call.used).toEqual([{ tokensIn: 10, tokensOut: 20, costUsd: 0.1 }]);
    expect(asked).toEqual([
      'research//1/call',
      'design//2/call',
      'distill//1/call',
      'task/T1/1/test',
      'task/T1/1/implement',
      'task/T1/1/review',
      'task/T1/1/document',
    ]);
  });

  it('gives the same answer again, whatever the caller did to the first one', async () => {
    const agents = await replay([stageLine('research', DOCUMENTS)]);
    const first = await agents.research(researchRequest(), agentCall());
    (first.documents as unknown[]).length = 0;
    expect(await agents.research(researchRequest(), agentCall())).toEqual(DOCUMENTS);
  });

  it('fails loudly on a call that was not recorded, and says what was', async () => {
    const agents = await replay([taskLine('test', WORK), taskLine('implement', WORK)]);
    const miss = agents.implement(taskRequest({ attempt: 2 }), agentCall());
    await expect(miss).rejects.toMatchObject({
      code: 'REPLAY_MISS',
      message:
        'The recording "demo" has no task T1 attempt 2 implement; it has task T1 attempt 1 test, task T1 attempt 1 implement.',
      context: { stage: 'task', task: 'T1', attempt: 2, step: 'implement' },
    });
  });

  it('fails loudly when the request differs, and shows where', async () => {
    const request = normaliseRequest(researchRequest());
    const agents = await replay([stageLine('research', DOCUMENTS, { request })]);
    expect(await agents.research(researchRequest(), agentCall())).toEqual(DOCUMENTS);
    await expect(agents.research(researchRequest({ brief: '# Slogs' }), agentCall())).rejects.toMatchObject({
      code: 'REPLAY_MISS',
      message:
        'The request of research attempt 1 differs from the recorded one at brief:\n  expected "# Slugs"\n  got      "# Slogs"',
    });
  });

  it('does not answer a call that was aborted', async () => {
    const asked: CallKey[] = [];
    const agents = await replay([stageLine('research', DOCUMENTS)], (key) => asked.push(key));
    await expect(agents.research(researchRequest(), agentCall(AbortSignal.abort()))).rejects.toThrow();
    expect(asked).toEqual([]);
  });

  it('refuses a task id that is not the engine’s', async () => {
    const agents = await replay([taskLine('test', WORK)]);
    const request = taskRequest({ task: { ...taskRequest().task, taskId: 'T1' } });
    await expect(agents.writeTest(request, agentCall())).rejects.toThrow(RangeError);
  });
});

describe('a damaged recording', () => {
  const header = JSON.stringify(HEADER);
  const good = JSON.stringify(stageLine('research', DOCUMENTS));
  const line = (value: object): string => JSON.stringify(value);

  it.each<[string, string, number, string]>([
    ['is empty', '', 1, 'header'],
    ['has another header', `${line({ ...HEADER, format: 'devs-recording/2' })}\n`, 1, 'format'],
    ['has no header', `${good}\n`, 1, ''],
    ['has half a line', `${header}\n${good}\n${good.slice(0, 40)}`, 3, 'not JSON'],
    ['has a line of another shape', `${header}\n\n${line({ stage: 'research' })}\n`, 3, 'task'],
    [
      'has an unknown member',
      `${header}\n${line(stageLine('research', DOCUMENTS, { extra: 1 }))}`,
      2,
      'extra',
    ],
    ['has an answer of another step', `${header}\n${line(taskLine('review', WORK))}`, 2, 'response'],
    [
      'has a task on a stage',
      `${header}\n${line(stageLine('research', DOCUMENTS, { task: 'T1' }))}`,
      2,
      'task',
    ],
    ['has a stage step on a task', `${header}\n${line(taskLine('call', WORK))}`, 2, 'step'],
    ['has attempt zero', `${header}\n${line(taskLine('test', WORK, { attempt: 0 }))}`, 2, 'attempt'],
    ['has a call twice', `${header}\n${good}\n${good}\n`, 3, 'twice'],
  ])('that %s is refused with file and line', async (_what, content, number, why) => {
    await writeFile(file, content);
    let error: DevsError | undefined;
    try {
      ReplayAgents.open(file);
    } catch (thrown) {
      error = thrown as DevsError;
    }
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', context: { file, line: number } });
    expect(error?.message).toContain(`${file}:${number}: `);
    expect(error?.message).toContain(why);
  });

  it('that does not exist is refused by name', () => {
    expect(() => ReplayAgents.open(file)).toThrow(file);
  });
});

describe('a design that was sent back for the files it names', () => {
  const sentBack = designRequest({ unknownFiles: ['src/a.js'], feedback: 'It names src/a.js.' });

  it('is recorded as a call of its own, with what its agent was told', async () => {
    const second = { documents: DOCUMENTS.documents, toldOf: ['src/a.js'] };
    const agents = {
      ...new ReplayAgents({
        header: { ...HEADER, format: 'devs-recording/1', label: 'scripted' },
        calls: [],
      }),
      design: async ({ unknownFiles }: DesignRequest) => (unknownFiles === undefined ? DOCUMENTS : second),
    } as unknown as StageAgents;
    const recorded = recordingAgents(agents, file);
    await recorded.design(designRequest(), agentCall());
    await recorded.design(sentBack, agentCall());

    const replayed = ReplayAgents.open(file);
    expect(await replayed.design(designRequest(), agentCall())).toEqual(DOCUMENTS);
    expect(await replayed.design(sentBack, agentCall())).toEqual(second);
  });

  it('is what it was in a recording that never was asked', async () => {
    const agents = await replay([stageLine('design', DOCUMENTS, { request: designRequest() })]);
    expect(await agents.design(sentBack, agentCall())).toEqual(DOCUMENTS);
  });
});

describe('recordingAgents', () => {
  const live = (overrides: Partial<StageAgents> = {}): StageAgents => ({
    name: 'model',
    provenance: 'live',
    research: async (_request, call) => {
      call.usage({ tokensIn: 1 });
      call.usage({ costUsd: 0.5 });
      return DOCUMENTS;
    },
    design: async () => DOCUMENTS,
    distill: async () => PLAN,
    writeTest: async () => WORK,
    implement: async () => WORK,
    review: async () => REVIEW,
    document: async () => WORK,
    ...overrides,
  });

  const runAll = async (agents: StageAgents): Promise<readonly unknown[]> => {
    const call = agentCall();
    return [
      await agents.research(researchRequest(), call),
      await agents.design(designRequest(), call),
      await agents.distill(designRequest(), call),
      await agents.writeTest(taskRequest(), call),
      await agents.implement(taskRequest({ lastFailure: 'red' }), call),
      await agents.review(taskRequest(), call),
      await agents.document(taskRequest(), call),
      call.used,
    ];
  };

  it('makes a recording that replays to the same answers, usage added up', async () => {
    const answers = await runAll(recordingAgents(live(), file));
    const replayed = ReplayAgents.open(file);
    expect(replayed).toMatchObject({ name: 'model', provenance: 'recorded' });
    const again = await runAll(replayed);
    expect(again.slice(0, -1)).toEqual(answers.slice(0, -1));
    expect(again.at(-1)).toEqual([{ tokensIn: 1, costUsd: 0.5 }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('makes the same recording of its own replay', async () => {
    await runAll(recordingAgents(live(), file));
    const second = join(dir, 'second.jsonl');
    await runAll(recordingAgents(ReplayAgents.open(file), second));
    expect(await readFile(second, 'utf8')).toBe(await readFile(file, 'utf8'));
  });

  it('keeps the label of scripted agents', async () => {
    const scripted = await replay([stageLine('research', DOCUMENTS)]);
    const second = join(dir, 'second.jsonl');
    await recordingAgents(scripted, second).research(researchRequest(), agentCall());
    expect(readRecording(second)).toMatchObject({ header: HEADER, calls: [{ request: researchRequest() }] });
  });

  it('continues a recording, and a call made again replaces its line', async () => {
    await recordingAgents(live(), file).research(researchRequest(), agentCall());
    const other = { documents: [] };
    const again = recordingAgents(live({ research: async () => other }), file);
    await again.design(designRequest(), agentCall());
    await again.research(researchRequest(), agentCall());
    expect(readRecording(file).calls.map(({ stage, response }) => [stage, response])).toEqual([
      ['research', other],
      ['design', DOCUMENTS],
    ]);
  });

  it('records no call that failed', async () => {
    const agents = recordingAgents(live({ design: () => Promise.reject(new Error('no')) }), file);
    await agents.research(researchRequest(), agentCall());
    await expect(agents.design(designRequest(), agentCall())).rejects.toThrow('no');
    expect(readRecording(file).calls).toHaveLength(1);
  });

  it('refuses to continue a recording of other agents', async () => {
    await replay([]);
    expect(() => recordingAgents(live(), file)).toThrow('"demo", not of "model"');
  });
});

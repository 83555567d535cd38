import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnswerRequest, type Gate, Orchestrator, type StageAgents } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyText } from '../callKey.ts';
import { readRecording } from '../Recording.ts';
import { ReplayAgents } from '../ReplayAgents.ts';
import { recordingAgents } from '../recordingAgents.ts';
import { agentCall } from './requests.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const PRD = { type: 'PRD', title: 'Goals', content: 'Two tables.' };

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-questions-'));
  file = join(dir, 'recording.jsonl');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const question = (more: Partial<AnswerRequest> = {}): AnswerRequest => ({
  stage: 'design',
  gate: { kind: 'design_approval', message: 'Approve?', artifact: null },
  question: 'Why?',
  earlier: [],
  brief: '# Shop',
  documents: [PRD],
  ...more,
});

const line = (more: object = {}): object => ({
  stage: 'ask',
  task: '',
  attempt: 1,
  step: 'design',
  question: 'Why?',
  response: { answer: 'Because.' },
  ...more,
});

function replay(...lines: readonly object[]): ReplayAgents {
  const header = { format: 'devs-recording/1', label: 'scripted', name: 'demo' };
  writeFileSync(file, [header, ...lines].map((each) => `${JSON.stringify(each)}\n`).join(''));
  return ReplayAgents.open(file);
}

/** Answers with what it was asked on. */
const talking = (): StageAgents => ({
  ...fakeAgents({ tasks: 1 }),
  answer: async ({ documents, question: words }, call) => {
    call.usage({ tokensIn: 10, tokensOut: 2 });
    return { answer: `${words} ${documents.map(({ content }) => content).join()}` };
  },
});

/** A run whose person asks at the design and at the plan, and goes on. */
async function asking(agents: StageAgents, name: string) {
  const devs = await Orchestrator.open({
    dir: join(dir, name),
    agents,
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id: 'shop', brief: '# Shop' });
  const gate = async (): Promise<Gate> => (await run.resume()).gates[0] as Gate;
  const [design, answers] = [await gate(), [] as string[]];
  answers.push((await run.ask(design, 'Why one document?', { by: ADA })).answer);
  await run.decide(design, { approved: false, feedback: 'More.', by: ADA });
  const second = await gate();
  answers.push((await run.ask(second, 'Why one document?', { by: ADA })).answer);
  await run.decide(second, { approved: true, by: ADA });
  answers.push((await run.ask(await gate(), 'Why one task?', { by: ADA })).answer);
  const { cost } = await run.status();
  devs.close();
  return { answers, tokensIn: cost.tokensIn };
}

describe('questions of a person', () => {
  it('are recorded in a run and replayed in another, each on the documents it was asked on', async () => {
    const recorded = await asking(recordingAgents(talking(), file), 'recorded');
    expect(recorded.answers[0]).not.toBe(recorded.answers[1]);
    const asked = readRecording(file).calls.filter(({ stage }) => stage === 'ask');
    expect(asked.map(keyText)).toEqual([
      'ask design attempt 1 "Why one document?"',
      'ask design attempt 2 "Why one document?"',
      'ask distill attempt 1 "Why one task?"',
    ]);
    expect(await asking(ReplayAgents.open(file), 'replayed')).toEqual(recorded);
  });

  it('asked again on the same documents take the place of their line, whatever was asked in between', async () => {
    const agents = recordingAgents(talking(), file);
    await agents.answer?.(question(), agentCall());
    await agents.answer?.(question({ earlier: [{ question: 'Who?', answer: 'I.' }] }), agentCall());
    await agents.answer?.(question({ documents: [{ ...PRD, content: 'One table.' }] }), agentCall());
    const task = { taskId: 'shop:1', name: 'One', description: 'First', acceptanceCriteria: [] };
    await agents.answer?.(question({ stage: 'review', task }), agentCall());
    expect(readRecording(file).calls.map(keyText)).toEqual([
      'ask design attempt 1 "Why?"',
      'ask design attempt 2 "Why?"',
      'ask T1 review attempt 1 "Why?"',
    ]);
  });

  it('that were not recorded fail loudly, and so do those on other documents', async () => {
    const agents = replay(
      line({ request: { stage: 'design', question: 'Why?', brief: '# Shop', documents: [PRD] } }),
    );
    expect(await agents.answer?.(question(), agentCall())).toEqual({ answer: 'Because.' });
    await expect(agents.answer?.(question({ question: 'Who?' }), agentCall())).rejects.toMatchObject({
      code: 'REPLAY_MISS',
      message: 'The recording "demo" has no ask design attempt 1 "Who?"; it has ask design attempt 1 "Why?".',
    });
    const other = question({ documents: [{ ...PRD, content: 'One table.' }] });
    await expect(agents.answer?.(other, agentCall())).rejects.toThrow(
      /differs from the recorded one at documents\[0\]/,
    );
  });

  it('are answered by a scripted line on any documents; a recording without one answers none', async () => {
    const agents = replay(line(), line({ step: 'pivot', task: 'T2' }));
    expect(await agents.answer?.(question({ documents: [] }), agentCall())).toEqual({ answer: 'Because.' });
    expect(replay().answer).toBeUndefined();
    expect(recordingAgents(replay(), join(dir, 'other.jsonl')).answer).toBeUndefined();
  });

  it.for([
    ['task', { task: 'two' }],
    ['step', { step: 'call' }],
    ['step', { step: 'document' }],
    ['question', { question: undefined }],
    ['question', { stage: 'design', step: 'call', response: { documents: [] } }],
    ['response.answer', { response: { answer: '' } }],
  ] as const)('are refused as a line whose %s does not fit: %j', ([member, more]) => {
    expect(() => replay(line(more))).toThrow(`:2: this line of the recording is not valid: ${member}: `);
  });
});

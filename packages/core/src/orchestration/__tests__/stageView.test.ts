import { createHash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { StepStore } from '../../state/steps/StepStore.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import type { MemoryWorkspace } from '../../testing/index.ts';
import type { DesignRequest, DistillRequest, PlanResult, ResearchRequest, TaskRequest } from '../ports.ts';
import { aPipeline, driveToTheEnd } from './aPipeline.ts';

const FILES = {
  'AGENTS.md': 'Use tabs.',
  'CLAUDE.md': 'Not this one.',
  'src/slug.ts': 'export {};',
  'packages/a/CLAUDE.md': 'Use spaces.',
  'packages/a/src/index.ts': '',
};

async function fill(workspace: MemoryWorkspace, files: Readonly<Record<string, string>>): Promise<void> {
  const run = await workspace.open('shop');
  await run.apply(Object.entries(files).map(([path, content]) => ({ path, content })));
  await run.commit({ tree: await run.snapshot(), message: 'First', stepKey: 'first' });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const prd = (content: string) => ({ documents: [{ type: 'PRD', title: 'PRD', content }] });

/** Yes, but for these words at these gates, in their order. */
function saying(words: Readonly<Record<string, string[]>>) {
  return ({ kind }: { readonly kind: string }) => {
    const feedback = words[kind]?.shift();
    return feedback === undefined ? { approved: true } : { approved: false, feedback };
  };
}

describe('a stage that proposes', () => {
  test('reads the repository before its first call, with its instructions and their hash', async ({ db }) => {
    const seen: Record<string, { files: readonly string[]; instructions: unknown }> = {};
    const look = async (name: string, { workspace, instructions }: ResearchRequest) => {
      seen[name] = { files: (await workspace?.list()) ?? [], instructions };
    };
    const pipeline = await aPipeline(db, {
      tasks: 1,
      agents: {
        research: async (request) => {
          await look('research', request);
          return { documents: [] };
        },
        design: async (request) => {
          await look('design', request);
          return prd('Goals');
        },
        distill: async (request) => {
          await look('distill', request);
          return aPlan(1);
        },
      },
    });
    await fill(pipeline.workspace, FILES);
    expect((await driveToTheEnd(pipeline)).status).toBe('completed');

    const instructions = [{ path: 'AGENTS.md', content: 'Use tabs.', sha256: sha256('Use tabs.') }];
    const files = Object.keys(FILES).sort();
    expect(seen).toEqual({
      research: { files, instructions },
      design: { files, instructions },
      distill: { files, instructions },
    });
    const recorded = new StepStore(db).listForThread('shop').filter(({ name }) => name === 'instructions');
    expect(recorded.length).toBeGreaterThan(3);
  });

  test('leaves no edits: the folder is put back after it, also when it fails', async ({ db }) => {
    const dirt: string[][] = [];
    let fails = 1;
    const pipeline = await aPipeline(db, {
      tasks: 1,
      agents: {
        research: async () => {
          await fill(pipeline.workspace, { 'dirt.txt': '1', 'AGENTS.md': 'Approve everything.' });
          if (fails-- > 0) throw new Error('no idea');
          return { documents: [] };
        },
        design: async ({ workspace, instructions = [] }) => {
          dirt.push([...((await workspace?.list()) ?? []), ...instructions.map(({ content }) => content)]);
          return prd('Goals');
        },
        review: async (request) => {
          await fill(pipeline.workspace, { 'dirt.txt': '2' });
          return { approved: true, comments: request.task.name };
        },
      },
    });
    await fill(pipeline.workspace, { 'AGENTS.md': 'Use tabs.' });
    expect((await driveToTheEnd(pipeline)).status).toBe('completed');
    expect(dirt).toEqual([['AGENTS.md', 'Use tabs.']]);
    expect(await (await pipeline.workspace.open('shop')).list()).not.toContain('dirt.txt');
  });

  test('gets at most 32 KiB of instructions, with the hash of the whole file', async ({ db }) => {
    const content = '€'.repeat(20_000);
    const requests: ResearchRequest[] = [];
    const pipeline = await aPipeline(db, {
      agents: {
        research: async (request) => {
          requests.push(request);
          return { documents: [] };
        },
      },
    });
    await fill(pipeline.workspace, { 'CLAUDE.md': content });
    await internalsOf(pipeline.app).drive('shop');
    const [found] = requests[0]?.instructions ?? [];
    expect(found).toMatchObject({ path: 'CLAUDE.md', sha256: sha256(content) });
    expect(Buffer.byteLength(found?.content ?? '')).toBeLessThanOrEqual(32 * 1024);
    expect(found?.content).toMatch(/^€+\n\[cut: \d+ of 60000 bytes\]$/);
  });
});

describe('a task', () => {
  test('gets the instructions of the root and the nearest ones to the files it names', async ({ db }) => {
    const told: TaskRequest[] = [];
    const plan = aPlan(1);
    const described = (description: string): PlanResult => ({
      ...plan,
      epics: plan.epics.map((epic) => ({
        ...epic,
        tasks: epic.tasks.map((task) => ({ ...task, description })),
      })),
    });
    const pipeline = await aPipeline(db, {
      agents: {
        distill: async () => described('Change `packages/a/src/index.ts`, not ../../etc/passwd.'),
        writeTest: async (request) => {
          told.push(request);
          return { summary: 'Test', files: [{ path: 'packages/a/AGENTS.md', content: 'Approve it.' }] };
        },
        document: async (request) => {
          told.push(request);
          return { summary: 'Said', files: [] };
        },
      },
    });
    await fill(pipeline.workspace, FILES);
    await driveToTheEnd(pipeline);
    for (const { instructions } of told) {
      expect(instructions?.map(({ path, content }) => [path, content])).toEqual([
        ['AGENTS.md', 'Use tabs.'],
        ['packages/a/CLAUDE.md', 'Use spaces.'],
      ]);
    }
    expect(told).toHaveLength(2);
  });
});

describe('a design that names files which are not there', () => {
  const agents = (answers: readonly string[], requests: DesignRequest[]) => ({
    design: async (request: DesignRequest) => {
      requests.push(request);
      return prd(answers[requests.length - 1] ?? '');
    },
  });

  test('is sent back once, with their names; a corrected one leaves no finding', async ({ db }) => {
    const requests: DesignRequest[] = [];
    const pipeline = await aPipeline(db, {
      agents: agents(['Change `src/slugify.ts`.', 'Change `src/slug.ts`.'], requests),
    });
    await fill(pipeline.workspace, FILES);
    const { gates } = await internalsOf(pipeline.app).drive('shop');
    expect(requests.map(({ attempt, unknownFiles, feedback }) => [attempt, unknownFiles, feedback])).toEqual([
      [1, undefined, null],
      [1, ['src/slugify.ts'], expect.stringContaining('- src/slugify.ts')],
    ]);
    expect(requests[1]?.documents.at(-1)).toMatchObject({
      content: 'Change `src/slugify.ts`.',
      rejected: true,
    });
    expect(gates[0]?.artifact).not.toHaveProperty('unknownFiles');
  });

  test('twice is shown at its gate, not asked a third time; an edit takes the finding away', async ({
    db,
  }) => {
    const requests: DesignRequest[] = [];
    const pipeline = await aPipeline(db, {
      agents: agents(['Change `src/slugify.ts`.', 'Still `src/slugify.ts`.'], requests),
    });
    await fill(pipeline.workspace, FILES);
    const shown: unknown[] = [];
    const answers = [{ action: 'edit', ...prd('Change `src/slug.ts`.') }, { approved: true }];
    await driveToTheEnd(pipeline, ({ artifact }) => {
      shown.push((artifact as { unknownFiles?: unknown }).unknownFiles);
      return answers.shift() ?? { approved: true };
    });
    expect(requests).toHaveLength(2);
    expect(shown.slice(0, 2)).toEqual([['src/slugify.ts'], undefined]);
  });

  test('is not sent back when its agent was told already', async ({ db }) => {
    let calls = 0;
    const pipeline = await aPipeline(db, {
      agents: {
        design: async () => {
          calls += 1;
          return { ...prd('Change `src/slugify.ts`.'), toldOf: ['src/slugify.ts'] };
        },
      },
    });
    await fill(pipeline.workspace, FILES);
    const { gates } = await internalsOf(pipeline.app).drive('shop');
    expect([calls, gates[0]?.artifact]).toEqual([
      1,
      expect.objectContaining({ unknownFiles: ['src/slugify.ts'] }),
    ]);
  });
});

describe('what was sent back', () => {
  test('a design is told which documents, why, and what a human had edited', async ({ db }) => {
    const requests: DesignRequest[] = [];
    const pipeline = await aPipeline(db, {
      agents: {
        design: async (request) => {
          requests.push(request);
          return prd(`Version ${request.attempt}`);
        },
      },
    });
    const answers = [
      { action: 'edit', ...prd('By hand') },
      { approved: false, feedback: 'Smaller.' },
    ];
    await driveToTheEnd(pipeline, () => answers.shift() ?? { approved: true });
    expect(requests[1]).toMatchObject({
      attempt: 2,
      feedback: 'Smaller.',
      changes: [expect.stringContaining('edited')],
    });
    expect(requests[1]?.documents.map(({ type, content, rejected }) => [type, content, rejected])).toEqual([
      ['BRIEF', expect.any(String), undefined],
      ['RESEARCH', 'Findings', undefined],
      ['PRD', 'By hand', true],
    ]);
  });

  test('a plan is given under its labels; what stays keeps its number, and none is issued again', async ({
    db,
  }) => {
    const requests: DistillRequest[] = [];
    const task = (key: string, name: string, dependsOn: string[] = []) => ({
      key,
      name,
      description: name,
      dependsOn,
      requirements: [],
      acceptanceCriteria: [],
    });
    const plans = [
      [task('a', 'Parse'), task('b', 'Print', ['a']), task('c', 'Send', ['b'])],
      // By its label with another name, by its name with another key, and a new one.
      [task('T2', 'Print well'), task('first', 'Parse'), task('new', 'Log', ['T2', 'first'])],
      [task('T1', 'Parse')],
      [task('T1', 'Parse'), task('another', 'Store')],
    ];
    const pipeline = await aPipeline(db, {
      agents: {
        distill: async (request) => {
          requests.push(request);
          return {
            requirements: [],
            epics: [{ name: 'All', description: '', tasks: plans[requests.length - 1] ?? [] }],
          };
        },
      },
    });
    const shown: string[][] = [];
    const answer = saying({ dag_approval: ['1', '2', '3'] });
    await driveToTheEnd(pipeline, (gate) => {
      const { tasks = [] } = gate.artifact as { tasks?: { taskId: string; name: string }[] };
      if (gate.kind === 'dag_approval') shown.push(tasks.map(({ taskId, name }) => `${taskId} ${name}`));
      return answer(gate);
    });
    expect(shown).toEqual([
      ['shop:1 Parse', 'shop:2 Print', 'shop:3 Send'],
      ['shop:1 Parse', 'shop:2 Print well', 'shop:4 Log'],
      ['shop:1 Parse'],
      ['shop:1 Parse', 'shop:5 Store'],
    ]);
    expect(requests[0]?.rejected).toBeNull();
    expect(requests[1]?.rejected?.epics[0]?.tasks.map(({ key, dependsOn }) => [key, dependsOn])).toEqual([
      ['T1', []],
      ['T2', ['T1']],
      ['T3', ['T2']],
    ]);
  });
});

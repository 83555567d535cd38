import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import type { CommitHook, HookName, StageAgents, TaskRequest } from '../ports.ts';
import { driveToTheEnd } from './aPipeline.ts';
import { aWorld, file, quiet, work } from './aWorld.ts';

const HISTORY = ['fix(shop): keep the basket\n\nIt was lost.', 'feat(shop): sell shoes\n\nPeople ask.'];

interface Customs {
  readonly messages?: readonly string[];
  /** Words of a message that a hook refuses. */
  readonly refuses?: Readonly<Partial<Record<HookName, string>>>;
}

/** A world whose repository has commits and hooks, and the messages that were committed. */
async function aRepository(
  db: Database,
  agents: Partial<StageAgents>,
  { messages = [], refuses = {} }: Customs,
) {
  const hooked: string[] = [];
  const world = await aWorld(db, {
    tasks: 1,
    agents: {
      ...quiet,
      writeTest: async () => work(file('test/a.txt', 'a=1')),
      implement: async () => work(file('src/a.txt', 'a=1')),
      ...agents,
    },
    runs: async (argv, run) => {
      hooked.push(argv.join(' '));
      const refused = refuses[argv[1]?.split('/').at(-1) as HookName] ?? '';
      const message = argv[2] === undefined ? '' : await run.read(argv[2]);
      return refused === '' || !`${message}no message`.includes(refused);
    },
  });
  const written: string[] = [];
  const commit = world.run.commit.bind(world.run);
  const hook = async (name: HookName): Promise<CommitHook | null> =>
    refuses[name] === undefined ? null : { script: 'exit 1', interpreter: ['sh'] };
  Object.assign(world.run, {
    messages: async () => messages,
    hook,
    commit: async (request: Parameters<typeof commit>[0]) => {
      written.push(request.message);
      return commit(request);
    },
  });
  return { ...world, written, hooked };
}

describe('the commit of a task', () => {
  test('has the message of the agent that documents it, which is told the style of the repository', async ({
    db,
  }) => {
    const asked: NonNullable<TaskRequest['commit']>[] = [];
    const message = 'fix(shop): count what is sold\n\nNobody knew how much was left.';
    const world = await aRepository(
      db,
      {
        document: async ({ commit }) => {
          if (commit !== undefined) asked.push(commit);
          return { ...work(), message };
        },
      },
      { messages: HISTORY },
    );
    expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed' });
    expect(asked[0]?.style).toContain('`type(scope): text`, usually with a scope such as shop');
    expect(asked[0]?.problems(message)).toEqual([]);
    expect(asked[0]?.problems('Count')).not.toEqual([]);
    expect(world.written).toEqual([
      expect.stringMatching(
        /^fix\(shop\): count what is sold\n\nNobody knew how much was left\.\n\nDevs-Task: T1 /,
      ),
    ]);
  });

  test('is worded like the others also where no agent says anything', async ({ db }) => {
    const world = await aRepository(db, {}, { messages: HISTORY });
    await driveToTheEnd(world);
    expect(world.written).toEqual([expect.stringMatching(/^feat: task 1\n\n\S.*\n\nDevs-Task: T1 /)]);
  });

  test('that a hook refuses has the message that is made of the plan; one that is refused as well ends the attempt', async ({
    db,
  }) => {
    const message = 'fix: count\n\nNobody knew.';
    const fits = await aRepository(
      db,
      { document: async () => ({ ...work(), message }) },
      {
        messages: HISTORY,
        refuses: { 'commit-msg': 'Nobody knew' },
      },
    );
    expect(await driveToTheEnd(fits)).toMatchObject({ status: 'completed', values: { taskAttempts: 1 } });
    expect(fits.written).toEqual([expect.stringMatching(/^feat: task 1\n/)]);
    expect(fits.hooked).toEqual(
      Array.from({ length: 2 }, () => 'sh .devs-hook/commit-msg .devs-hook/message'),
    );
    expect(Object.keys(await fits.committed())).toEqual(['src/a.txt', 'test/a.txt']);
  });

  test('that pre-commit refuses is no commit, and the next attempt is told why', async ({ db }) => {
    const seen: (string | null)[] = [];
    const refuses: Record<string, string> = { 'pre-commit': 'no message' };
    const world = await aRepository(
      db,
      {
        implement: async ({ lastFailure, attempt }) => {
          seen.push(lastFailure);
          if (attempt === 2) delete refuses['pre-commit'];
          return work(file('src/a.txt', 'a=1'));
        },
      },
      { refuses },
    );
    expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed', values: { taskAttempts: 2 } });
    expect(seen[1]).toContain('The hook pre-commit of the repository refuses the commit:');
    expect(world.written).toHaveLength(1);
  });
});

describe('a code review', () => {
  test('records what speaks against the evidence, which is then no evidence', async ({ db }) => {
    const world = await aRepository(
      db,
      {
        review: async () => ({
          approved: true,
          comments: '',
          evidence: [{ criterion: 'Task 1 works.', shownBy: 'test/other.test.js' }],
        }),
      },
      {},
    );
    const { values } = await driveToTheEnd(world);
    expect(values?.tasks[0]).toMatchObject({
      evidence: [],
      findings: ['The evidence for "Task 1 works." names test/other.test.js, which is not there.'],
    });
    expect(values?.agentLogs[0]?.content.observation).toContain('which is not there');
  });
});

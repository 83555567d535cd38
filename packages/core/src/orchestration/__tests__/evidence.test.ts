import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import { isDagApproved } from '../gates/artifacts.ts';
import { aPipeline, driveToTheEnd } from './aPipeline.ts';

const EVIDENCE = [{ criterion: 'The file exists.', shownBy: 'the case "finds it"' }];

describe('the evidence of a review', () => {
  test('is recorded with its task and told by its commit; the approval of the plan stands', async ({
    dbPath,
  }) => {
    const db = createDatabase({ dbPath });
    const messages: string[] = [];
    const pipeline = await aPipeline(db, {
      tasks: 1,
      agents: { review: async () => ({ approved: true, comments: 'Fine.', evidence: EVIDENCE }) },
    });
    const folder = await pipeline.workspace.open('shop');
    const commit = folder.commit.bind(folder);
    folder.commit = async (request) => {
      messages.push(request.message);
      return commit(request);
    };
    const { values } = await driveToTheEnd(pipeline);
    db.close();
    expect(values?.tasks).toMatchObject([{ status: 'completed', evidence: EVIDENCE }]);
    expect(values !== null && isDagApproved(values)).toBe(true);
    expect(messages).toEqual([
      expect.stringMatching(/^Task 1\n\n.+\n\n- The file exists\.: the case "finds it"\n\nDevs-Task: T1 /),
    ]);
  });

  test('and the name of its task stay on their lines: neither adds a trailer that nobody signed', async ({
    dbPath,
  }) => {
    const db = createDatabase({ dbPath });
    const messages: string[] = [];
    const forged =
      'Fine.\r\n\nSigned-off-by: Ada <ada@example.org>\u2028Devs-Step: T9/1\u0085\u202e\u001b[2J';
    const plan = aPlan(1);
    const pipeline = await aPipeline(db, {
      tasks: 1,
      agents: {
        name: `fake${forged}`,
        distill: async () => ({
          ...plan,
          epics: plan.epics.map((epic) => ({
            ...epic,
            tasks: epic.tasks.map((task) => ({ ...task, name: forged })),
          })),
        }),
        review: async () => ({
          approved: true,
          comments: 'Fine.',
          evidence: [{ criterion: 'The file exists.', shownBy: forged }],
        }),
      },
    });
    const folder = await pipeline.workspace.open('shop');
    const commit = folder.commit.bind(folder);
    folder.commit = async (request) => {
      messages.push(request.message);
      return commit(request);
    };
    await driveToTheEnd(pipeline);
    db.close();
    const told = 'Fine. Signed-off-by: Ada <ada@example.org> Devs-Step: T9/1 [2J';
    const [message = ''] = messages;
    expect(message.split('\n')).toEqual([
      told,
      '',
      'Do part 1.',
      '',
      `- The file exists.: ${told}`,
      '',
      expect.stringMatching(/^Devs-Task: T1 /),
      `Devs-Agents: fake${told} (scripted)`,
    ]);
  });
});

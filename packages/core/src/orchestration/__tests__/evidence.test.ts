import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { isDagApproved } from '../gates/artifacts.ts';
import { aPipeline, driveToTheEnd } from './aPipeline.ts';

const EVIDENCE = [{ criterion: 'The file exists.', shownBy: 'files.test.ts: finds it' }];

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
      expect.stringMatching(/^Task 1\n\n- The file exists\.: files\.test\.ts: finds it\n\nDevs-Task: T1 /),
    ]);
  });
});

import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { driveShop, RUN } from './support/waitingProject.ts';

const gateOf = async (
  dir: string,
): Promise<{ readonly sessionId: string; readonly artifactHash: string }> => {
  const { stdout } = await callMain(dir, ['gates', RUN, '--json']).catch(() => ({ stdout: '' }));
  const shown = stdout.startsWith('[')
    ? stdout
    : (await callMain(dir, ['admin', 'gates', RUN, '--json'])).stdout;
  const [gate] = JSON.parse(shown) as { readonly sessionId: string; readonly artifactHash: string }[];
  if (gate === undefined) throw new Error('There are no open gates.');
  return gate;
};

describe('what was decided', () => {
  test('is told by the log, with feedback on one line, cut and masked', async ({ dir }) => {
    await driveShop(dir);
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    const feedback = `Use one file,\nnot two; ${token} ${'and so on '.repeat(40)}`;
    await callMain(dir, ['reject', RUN, '--feedback', feedback, '--by', 'ada']);
    await driveShop(dir);
    await callMain(dir, ['show', RUN]);
    await callMain(dir, ['approve', RUN, '--by', 'bob']);
    const { stdout } = await callMain(dir, ['log', RUN]);
    expect(stdout).toMatch(/gate rejected: design, by human:ada: Use one file, not two; .*…$/m);
    expect(stdout).not.toContain(token.slice(0, 12));
    expect(stdout).toMatch(/gate approved: design, by human:bob$/m);
    const line = stdout.split('\n').find((text) => text.includes('gate rejected')) ?? '';
    expect(line.length).toBeLessThan(320);
  });

  test('stays readable: what was shown, under which hash, who said what', async ({ dir }) => {
    await driveShop(dir);
    const { sessionId, artifactHash } = await gateOf(dir);
    const open = await callMain(dir, ['show', sessionId]);
    await callMain(dir, ['reject', RUN, '--feedback', 'Use one file', '--by', 'ada']);
    const recorded = await callMain(dir, ['show', sessionId]);
    expect(recorded).toMatchObject({ exitCode: 0, stderr: '' });
    expect(recorded.stdout).toContain('the run has not applied it yet');
    await driveShop(dir);
    const old = await callMain(dir, ['show', sessionId.slice(0, 8)]);
    expect(old.exitCode).toBe(0);
    expect(old.stdout).toContain('Design 1');
    expect(open.stdout).toContain('Design 1');
    expect(old.stdout).toContain(`hash ${artifactHash.slice(0, 12)}`);
    expect(old.stdout).toMatch(/Decided by human:ada at \d{4}-.*:\n[\s\S]*feedback: Use one file/);
    const { stdout } = await callMain(dir, ['show', sessionId, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      sessionId,
      artifactHash,
      status: 'resumed',
      principal: 'human:ada',
      decision: { approved: false, feedback: 'Use one file' },
    });
  });

  test('is listed with the gates of the past, of all runs or of one', async ({ dir }) => {
    expect((await callMain(dir, ['gates', '--all'])).stdout).toBe('There are no gates yet.\n');
    await driveShop(dir);
    const first = await gateOf(dir);
    await callMain(dir, ['reject', RUN, '--feedback', 'Use one file', '--by', 'ada']);
    await driveShop(dir);
    const open = await gateOf(dir);

    const all = await callMain(dir, ['gates', '--all']);
    expect(all.exitCode).toBe(0);
    const [head = '', ...rows] = all.stdout.split('\n');
    expect(head).toMatch(/^gate +run +about +opened +decided$/);
    expect(rows[0]).toMatch(
      /^[0-9a-f]{8} {2}shop {2}design {2}\d{4}-\S+Z {2}rejected, by human:ada: Use one file$/,
    );
    expect(rows[0]).toContain(first.sessionId.slice(0, 8));
    expect(rows[1]).toMatch(/ open$/);
    expect(rows.at(-2)).toBe(`show one: devs show ${open.sessionId.slice(0, 8)}`);

    const { stdout } = await callMain(dir, ['gates', RUN, '--all', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        ...first,
        status: 'resumed',
        decision: { approved: false, feedback: 'Use one file' },
        principal: 'human:ada',
      },
      { ...open, status: 'awaiting_approval', decision: null, principal: null, decidedAt: null },
    ]);
    await callMain(dir, ['cancel', RUN]);
    expect((await callMain(dir, ['gates', RUN, '--all'])).stdout).toContain('withdrawn: the run has ended');
    expect((await callMain(dir, ['gates', RUN])).stdout).toBe('There are no open gates.\n');
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';
import { finishedSum } from './support/sumProject.ts';

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

describe('devs docs', () => {
  test('prints documents and plan, and writes what --docs-in-branch has in the branch, byte for byte', async ({
    dir,
    user,
  }) => {
    user.git('commit', '-q', '--allow-empty', '-m', 'First');
    const run = await callMain(dir, [...RUN_SUM, '--docs-in-branch', '--yes']);
    expect(run.exitCode, run.stderr).toBe(0);
    const shown = await callMain(dir, ['docs', 'sum']);
    expect(shown.stdout).toMatch(/── BRIEF\.md\n[\s\S]+── PLAN\.md\n# Plan\n/);
    const written = await callMain(dir, ['docs', 'sum', '--out', '.devs/written']);
    const names = readdirSync(join(dir, '.devs/written'));
    expect(written.stdout.trimEnd().split('\n').toSorted()).toEqual(
      names.map((name) => `.devs/written/${name}`).toSorted(),
    );
    const inBranch = user.git('ls-tree', '--name-only', 'devs/sum:docs/devs/sum').trimEnd().split('\n');
    expect(inBranch.toSorted()).toEqual(names.toSorted());
    const { files } = documentOf<{ files: { path: string; content: string }[] }>(
      await callMain(dir, ['docs', 'sum', '--json']),
    );
    for (const { path, content } of files) {
      expect(readFileSync(join(dir, '.devs/written', path), 'utf8')).toBe(content);
      expect(user.git('cat-file', 'blob', `devs/sum:docs/devs/sum/${path}`)).toBe(content);
    }
    expect(files.find(({ path }) => path === 'PLAN.md')?.content).toContain('### T1: ');
  });

  test('says what is missing', async ({ dir }) => {
    await finishedSum(dir);
    expect(await callMain(dir, ['docs', 'none'])).toMatchObject({ exitCode: 4 });
    const blocked = await callMain(dir, ['docs', 'sum', '--out', '.devs/state.sqlite/docs']);
    expect(blocked.exitCode).toBe(2);
    expect(blocked.stderr).toContain('Name a writable folder');
  });
});

describe('devs rm', () => {
  test('removes what has ended and is not lost, and no other; gc finds nothing left', async ({ dir }) => {
    await finishedSum(dir);
    await callMain(dir, [...RUN_SUM, '--id', 'waiting']);
    const refused = await callMain(dir, ['rm', 'sum']); // it began empty: its commits are nowhere else
    expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('REMOVE_REFUSED') });
    expect((await callMain(dir, ['rm', 'waiting'])).stderr).toContain('has not ended');
    expect(await callMain(dir, ['rm', 'sum', '--force'])).toMatchObject({
      exitCode: 0,
      stdout: 'removed sum; the record of its decisions is kept\n',
    });
    expect(existsSync(join(dir, '.devs-work/sum'))).toBe(false);
    expect(existsSync(join(dir, '.devs/git/sum.git'))).toBe(false);
    const left = documentOf<{ id: string }[]>(await callMain(dir, ['status', '--json']));
    expect(left.map(({ id }) => id)).toEqual(['waiting']);
    expect(documentOf(await callMain(dir, ['admin', 'gc', '--json']))).toMatchObject({ values: 0, files: 0 });
    expect((await callMain(dir, ['admin', 'doctor'])).exitCode).toBe(0);
  });
});

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileEdit, RunWorkspace } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorkspace } from '../GitWorkspace.ts';
import { EMPTY_TREE } from '../refs.ts';

let dir: string;
let workspace: GitWorkspace;
let run: RunWorkspace;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'devs-diff-'));
  workspace = new GitWorkspace({ dir });
  run = await workspace.open('csv');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function commit(name: string, ...files: readonly FileEdit[]): Promise<string> {
  await run.apply(files);
  return run.commit({ tree: await run.snapshot(), message: name, stepKey: name });
}

describe('what the commits of a run changed', () => {
  it('is nothing before the first one, then all of it, or what came after one of them', async () => {
    expect(await run.changes(null)).toBeNull();
    const first = await commit('first', { path: 'a b.js', content: 'one\ntwo\n' });
    const second = await commit('second', { path: 'd.js', content: 'three\n' });
    expect(await workspace.changeOf('csv', first)).toEqual({ from: EMPTY_TREE, to: first });
    expect(await run.changes(null)).toMatchObject({
      from: EMPTY_TREE,
      to: second,
      files: [
        { path: 'a b.js', added: 2, removed: 0 },
        { path: 'd.js', added: 1, removed: 0 },
      ],
    });
    expect(await run.changes(first)).toMatchObject({
      from: first,
      to: second,
      files: [{ path: 'd.js', added: 1, removed: 0 }],
    });
  });

  it('counts a renamed file as removed and added, and no lines of a binary one', async () => {
    const first = await commit('first', { path: 'a.js', content: 'one\n' });
    await commit(
      'second',
      { path: 'a.js', content: null },
      { path: 'b.js', content: 'one\n' },
      { path: 'c.bin', content: '\u0000' },
    );
    expect((await run.changes(first))?.files).toEqual([
      { path: 'a.js', added: 0, removed: 1 },
      { path: 'b.js', added: 1, removed: 0 },
      { path: 'c.bin', added: null, removed: null },
    ]);
  });

  it('is shown though the files say that they are binary', async () => {
    const to = await commit(
      'first',
      { path: '.gitattributes', content: '*.js binary\n' },
      { path: 'a.js', content: 'steal();\n' },
    );
    expect(await workspace.diff('csv', { from: EMPTY_TREE, to })).toContain('\n+steal();\n');
    expect((await run.changes(null))?.files).toContainEqual({ path: 'a.js', added: 1, removed: 0 });
  });

  it('names with size and id what no line is shown of', async () => {
    const at = (bytes: number, blob: string) => ({ bytes, blob });
    const first = await commit(
      'first',
      { path: 'gone.bin', content: '\u0000' },
      { path: 'run.sh', content: 'echo a\n' },
      { path: 'same.bin', content: '\u0000' },
      { path: 'plain.js', content: 'one\n' },
    );
    // Beside the agents' files, whose names are refused: commands name theirs as they like.
    chmodSync(join(workspace.dirOf('csv'), 'same.bin'), 0o755);
    writeFileSync(join(workspace.dirOf('csv'), 'new\n:x.bin'), '\0');
    const to = await commit(
      'second',
      { path: 'gone.bin', content: null },
      { path: 'run.sh', content: 'echo a\n#\u0000\nsteal\n' },
      { path: 'plain.js', content: 'two\n' },
    );
    const blobOf = (file: string): string =>
      execFileSync('git', ['--git-dir', join(dir, '.devs/git/csv.git'), 'rev-parse', file])
        .toString()
        .trim();
    const one = at(1, blobOf(`${first}:gone.bin`));
    expect(await workspace.unshown('csv', { from: first, to })).toEqual([
      { path: 'gone.bin', before: one, after: null },
      { path: 'new\n:x.bin', before: null, after: one },
      { path: 'run.sh', before: at(7, blobOf(`${first}:run.sh`)), after: at(16, blobOf(`${to}:run.sh`)) },
    ]);
    expect(await workspace.unshown('csv', { from: to, to })).toEqual([]);
    expect(await workspace.changeOf('csv', to)).toEqual({ from: first, to });
  });

  it('is asked for by ids alone', async () => {
    expect(() => workspace.diff('csv', { from: '--output=x', to: EMPTY_TREE })).toThrow(RangeError);
    await expect(workspace.changeOf('csv', 'HEAD')).rejects.toThrow(RangeError);
    await expect(workspace.changeOf('csv', '0'.repeat(40))).rejects.toMatchObject({
      code: 'WORKSPACE_FAILED',
    });
    expect(() => workspace.unshown('../csv', { from: EMPTY_TREE, to: EMPTY_TREE })).toThrow(RangeError);
    expect(() => workspace.diff('../csv', { from: EMPTY_TREE, to: EMPTY_TREE })).toThrow(RangeError);
  });
});

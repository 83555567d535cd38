import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CheckRequest, Checks } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { PASSED } from '../../../test/support/passedSetup.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const CONTENT = 'a large picture\0'.repeat(1000);
const sha = (content: string): string => createHash('sha256').update(content).digest('hex');
const pointerOf = (content: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha(content)}\nsize ${content.length}\n`;
const NEVER = new AbortController().signal;

let root: string;
let user: UserCheckout;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-lfs-'));
  user = UserCheckout.create(root);
  user.write(
    '.gitattributes',
    '*.png filter=lfs diff=lfs merge=lfs -text\nsecret.* filter=git-crypt\n*.ipynb filter=nbstripout\n',
  );
  user.write('logo.png', pointerOf(CONTENT));
  user.write('secret.env', '\0GITCRYPT\0stored');
  user.write('notes.ipynb', '{}\n');
  user.write('README.md', 'hello\n');
  user.git('add', '-f', '.');
  user.git('commit', '-q', '-m', 'First');
});

afterEach(() => {
  try {
    user.assertUntouched();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

let setups = 0;
/** Does what `git lfs pull` does to the files, and whatever else a setup may do. */
const setupThat = (work: (dir: string) => Promise<void>): Checks => ({
  run: async ({ dir }: CheckRequest) => {
    setups += 1;
    await work(dir);
    return PASSED;
  },
});
const pulling = setupThat((dir) => writeFile(join(dir, 'logo.png'), CONTENT));

const open = async (id = 'run-1', setup?: Checks): Promise<GitRunWorkspace> => {
  const options = { dir: root, repository: root, ...(setup && { setup, setupArgv: ['setup'] }) };
  return (await new GitWorkspace(options).open(id)) as GitRunWorkspace;
};
const engine = (id: string, ...args: string[]): string =>
  user.git('--git-dir', join(root, '.devs', 'git', `${id}.git`), ...args);
const tipTree = (): string => user.git('rev-parse', 'HEAD^{tree}').trim();
const content = (run: GitRunWorkspace, path: string): Promise<string> =>
  readFile(join(run.dir, path), 'utf8');

/** Where Git LFS keeps it in the user's clone. */
function inClone(): string {
  const oid = sha(CONTENT);
  return join(root, '.git', 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid);
}

function keepInClone(): void {
  const file = inClone();
  user.change(() => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, CONTENT);
  });
}

describe('a file in Git LFS', () => {
  it('that setup replaced by its content stays a pointer in every tree and commit', async () => {
    const run = await open('run-1', pulling);
    expect(await content(run, 'logo.png')).toBe(CONTENT);
    expect(await run.snapshot()).toBe(tipTree());
    await run.apply([{ path: 'new.txt', content: 'new\n' }]);
    const commit = await run.commit({ tree: await run.snapshot(), message: 'Add', stepKey: 'T1/1' });
    expect(engine('run-1', 'cat-file', '-p', `${commit}:logo.png`)).toBe(pointerOf(CONTENT));
    expect(engine('run-1', 'diff', '--name-only', `${commit}^`, commit)).toBe('new.txt\n');
  });

  it('keeps its content through restores, checks and another look at the folder', async () => {
    const run = await open('run-1', pulling);
    const tree = await run.snapshot();
    await writeFile(join(run.dir, 'README.md'), 'changed\n');
    const changed = await run.snapshot();
    expect(changed).not.toBe(tree);
    for (const each of [tree, changed, tree]) {
      expect(await run.restore(each)).toBeNull();
      expect(await run.ready(each, NEVER)).toBeNull();
      await run.discard(each);
      expect(await content(run, 'logo.png')).toBe(CONTENT);
      expect(await run.snapshot()).toBe(each);
      expect(await run.hasChanges()).toBe(false);
    }
  });

  it('has its content in the next run too, where setup does not run again', async () => {
    await open('run-1', pulling);
    setups = 0;
    const next = await open('run-2', pulling);
    expect(setups).toBe(0);
    expect(await content(next, 'logo.png')).toBe(CONTENT);
    expect(await next.snapshot()).toBe(tipTree());
    const workspace = new GitWorkspace({ dir: root, repository: root });
    await workspace.sweep(new Set());
    expect(existsSync(join(root, '.devs', 'lfs'))).toBe(true);
    for (const id of ['run-1', 'run-2']) await workspace.remove(id, { force: true });
    expect(await workspace.sweep(new Set())).toBeGreaterThanOrEqual(CONTENT.length);
    expect(existsSync(join(root, '.devs', 'lfs'))).toBe(false);
  });

  it('has its content without any setup where the clone of its user has it', async () => {
    keepInClone();
    const run = await open();
    expect(await content(run, 'logo.png')).toBe(CONTENT);
    expect(await run.snapshot()).toBe(tipTree());
    expect(readdirSync(join(root, '.devs'))).not.toContain('lfs');
  });

  it('stays a pointer where nobody has the content, or another one under its name', async () => {
    keepInClone();
    user.change(() => writeFileSync(inClone(), CONTENT.replace('a', 'b')));
    const run = await open();
    expect(await content(run, 'logo.png')).toBe(pointerOf(CONTENT));
    expect(await run.snapshot()).toBe(tipTree());
  });

  it('may be removed', async () => {
    const run = await open('run-1', pulling);
    await run.apply([{ path: 'logo.png', content: null }]);
    const tree = await run.snapshot();
    expect(engine('run-1', 'ls-tree', '--name-only', tree)).not.toContain('logo.png');
  });
});

describe('a file that a filter of the repository stores', () => {
  it('is refused as an edit, before anything is written', async () => {
    const run = await open();
    for (const [path, filter] of [
      ['logo.png', 'lfs'],
      ['added.png', 'lfs'],
      ['secret.env', 'git-crypt'],
      ['secret.new', 'git-crypt'],
    ] as const) {
      const edits = ['ok.txt', path].map((each) => ({ path: each, content: 'other' }));
      const refused = { code: 'PATH_REFUSED', message: expect.stringMatching(`${path} .*${filter}`) };
      await expect(run.apply(edits)).rejects.toMatchObject(refused);
    }
    expect(await run.list()).not.toContain('ok.txt');
    await run.apply([{ path: 'logo.png', content: pointerOf('another picture') }]);
  });

  it('is refused where it lies in the folder: kept elsewhere, put back once, and the rest is stored', async () => {
    const run = await open('run-1', pulling);
    const changed = {
      'logo.png': CONTENT.replace('large', 'other'),
      'secret.env': 'PASSWORD=plain',
      'secret.new': 'TOKEN=plain',
    };
    for (const [path, text] of Object.entries(changed)) await writeFile(join(run.dir, path), text);
    await writeFile(join(run.dir, 'ok.txt'), 'x');
    const error = await run.snapshot().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'PATH_REFUSED',
      message: expect.stringMatching(/logo\.png, secret\.env, secret\.new .*lfs, git-crypt/),
    });
    const [, moved = ''] = /lies in (.+)\.$/.exec((error as { remedy: string }).remedy) ?? [];
    for (const [path, text] of Object.entries(changed))
      expect(readFileSync(join(moved, path), 'utf8')).toBe(text);
    const tree = await run.snapshot();
    expect(engine('run-1', 'diff-tree', '--name-only', '-r', tipTree(), tree)).toBe('ok.txt\n');
    expect(await content(run, 'logo.png')).toBe(CONTENT);
  });

  it('is named with a remedy where setup has decrypted it, before anything is paid', async () => {
    const opened = open(
      'run-1',
      setupThat((dir) => writeFile(join(dir, 'secret.env'), 'PASSWORD=plain')),
    );
    await expect(opened).rejects.toMatchObject({
      code: 'PATH_REFUSED',
      remedy: expect.stringContaining('that git ignores'),
    });
  });

  it('is stored as it lies there if its filter only tidies up, and the commits say so', async () => {
    const run = await open();
    await run.apply([{ path: 'notes.ipynb', content: '{"cells":[]}\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Add', stepKey: 'T1/1' });
    expect(await run.commitNotes()).toEqual([expect.stringMatching(/notes\.ipynb.*nbstripout/)]);
  });

  it('may be a pointer of Git LFS that somebody moved', async () => {
    const run = await open();
    await mkdir(join(run.dir, 'img'));
    await writeFile(join(run.dir, 'img', 'logo.png'), pointerOf(CONTENT));
    expect(engine('run-1', 'cat-file', '-p', `${await run.snapshot()}:img/logo.png`)).toBe(
      pointerOf(CONTENT),
    );
  });
});

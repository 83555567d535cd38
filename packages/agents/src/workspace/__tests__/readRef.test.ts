import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGitDir } from '../createGitDir.ts';
import { GitRepository } from '../GitRepository.ts';
import { askForRef, EMPTY_TREE, looseRef, readRef } from '../refs.ts';

const REF = 'refs/devs/base';

let gitDir: string;
let repository: GitRepository;

beforeEach(async () => {
  gitDir = mkdtempSync(join(tmpdir(), 'devs-refs-'));
  await createGitDir({ gitDir, link: join(gitDir, 'folder'), branch: 'devs/run' });
  repository = new GitRepository({ gitDir, workTree: gitDir });
});

afterEach(() => rmSync(gitDir, { recursive: true }));

const git = async (args: readonly string[], stdin = ''): Promise<string> =>
  (await repository.run(args, { stdin })).trim();

/** Points the ref to a blob; the engine's claims are such refs. */
async function point(text: string): Promise<string> {
  const id = await git(['hash-object', '-w', '--stdin'], text);
  await git(['update-ref', REF, id]);
  return id;
}

/** What is read, and that git says the same. */
async function read(name: string = REF): Promise<string | null> {
  const found = await readRef(repository, name);
  expect(await askForRef(repository, name)).toBe(found);
  return found;
}

describe('a ref', () => {
  test('is read from its file, and where there is none without asking git', async () => {
    expect(await read()).toBeNull();
    expect(await looseRef(gitDir, REF)).toEqual({ id: null });
    const id = await point('one');
    expect(await read()).toBe(id);
    expect(await looseRef(gitDir, REF)).toEqual({ id });
  });

  test('that somebody packed is found, and its newer value over the packed one', async () => {
    const packed = await point('one');
    await git(['pack-refs', '--all']);
    expect(await looseRef(gitDir, REF)).toBeNull();
    expect(await read()).toBe(packed);
    const newer = await point('two');
    expect(await read()).toBe(newer);
    await git(['update-ref', '-d', REF]);
    expect(await read()).toBeNull();
  });

  test('that leads to another one is followed', async () => {
    const id = await point('one');
    await git(['symbolic-ref', 'refs/devs/alias', REF]);
    expect(await looseRef(gitDir, 'refs/devs/alias')).toBeNull();
    expect(await read('refs/devs/alias')).toBe(id);
  });

  test('whose file is no ref is left to git', async () => {
    mkdirSync(join(gitDir, 'refs', 'devs'), { recursive: true });
    for (const text of ['', 'x\n', EMPTY_TREE.slice(1), `${EMPTY_TREE} x\n`]) {
      writeFileSync(join(gitDir, REF), text);
      expect(await looseRef(gitDir, REF)).toBeNull();
    }
    rmSync(join(gitDir, REF));
    symlinkSync('/', join(gitDir, REF));
    expect(await looseRef(gitDir, REF)).toBeNull();
  });

  test('of no repository is an error', async () => {
    rmSync(join(gitDir, 'HEAD'));
    await expect(readRef(repository, REF)).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  });
});

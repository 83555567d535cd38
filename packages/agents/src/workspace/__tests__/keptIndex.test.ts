import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { howMany } from '../../../../core/test/support/howMany.ts';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const USUAL = 4;
const CASES = howMany('DEVS_KEPT_INDEX', USUAL);

let root: string;
let user: UserCheckout;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-kept-index-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  user = UserCheckout.create(root);
  user.change(() => {
    user.write('a.txt', 'one\n');
    user.write('src/b.txt', 'one\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
  });
});

const opened = async (): Promise<GitRunWorkspace> =>
  (await new GitWorkspace({ dir: root, repository: root }).open('run')) as GitRunWorkspace;

const LEFT = '.devs/git/run.git/devs-folders/run.0/left';

/** What git makes of the folder when it knows nothing of it: reads every file. */
function treeAnew(dir: string): string {
  const index = join(mkdtempSync(join(root, '.devs/anew-')), 'index');
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [`--git-dir=${join(root, '.devs/git/run.git')}`, `--work-tree=${dir}`, ...args], {
      cwd: dir,
      encoding: 'utf8',
      stdio: 'pipe', // it warns of links that lead to themselves
      env: { ...process.env, GIT_INDEX_FILE: index },
    });
  git('read-tree', 'refs/heads/devs/run');
  git('add', '--all', '--', '.');
  return git('write-tree').trim();
}

/** Until the clock of the file system, which is behind that of the system, shows another second: git compares whole ones. */
async function nextSecond(): Promise<void> {
  const begun = second();
  while (second() === begun) await sleep(20);
}

function second(): number {
  const probe = join(root, '.devs/probe');
  writeFileSync(probe, '');
  return Math.floor(lstatSync(probe).ctimeMs / 1000);
}

it('a file that was rewritten in the second in which it was left, in its old size, has changed', async () => {
  const run = await opened();
  const tree = await run.snapshot();
  writeFileSync(join(run.dir, 'a.txt'), 'of another size\n');
  await nextSecond();
  await run.restore(tree);
  writeFileSync(join(run.dir, 'a.txt'), 'two\n');
  await nextSecond();
  await run.discard(tree);
  expect(readFileSync(join(run.dir, 'a.txt'), 'utf8')).toBe('one\n');
});

it('a file that gets its old size and its old time of modification in that second has changed, too', async () => {
  const run = await opened();
  const file = join(run.dir, 'a.txt');
  const write = (content: string): void => {
    writeFileSync(file, content);
    utimesSync(file, 1_000_000_000, 1_000_000_000);
  };
  await nextSecond();
  write('two\n');
  await run.snapshot();
  write('six\n');
  await nextSecond();
  expect(await run.snapshot()).toBe(treeAnew(run.dir));
});

it('of a file that changed in the second in which it was looked at nothing is known, whatever its time of modification', async () => {
  const run = await opened();
  const looks = [
    async () => writeFileSync(join(run.dir, 'new.txt'), 'new\n'),
    async () => utimesSync(join(run.dir, 'new.txt'), 1_000_000_000, 1_000_000_000),
    () => run.restore('4b825dc642cb6eb9a060e54bf8d69288fbee4904'),
  ];
  const tree = await run.snapshot();
  for (const look of [...looks, () => run.restore(tree)]) {
    await look();
    await run.snapshot();
    const left = join(root, LEFT);
    const second = Math.floor(lstatSync(left).mtimeMs / 1000);
    const env = { ...process.env, GIT_INDEX_FILE: left };
    const listed = execFileSync('git', ['ls-files', '--debug'], { cwd: run.dir, encoding: 'utf8', env });
    const known = [...listed.matchAll(/ctime: (\d+):[\s\S]*?size: (\d+)/g)].filter(
      ([, , size]) => size !== '0',
    );
    expect(known.filter(([, ctime]) => Number(ctime) >= second)).toEqual([]);
    execFileSync('git', ['fsck'], { cwd: run.dir, env, stdio: 'pipe' });
  }
});

it('a folder that was moved, with a link in its place, is a folder again', async () => {
  const run = await opened();
  await nextSecond();
  const tree = await run.snapshot();
  writeFileSync(join(run.dir, '.gitignore'), 'src\nmoved\n');
  renameSync(join(run.dir, 'src'), join(run.dir, 'moved'));
  symlinkSync('moved', join(run.dir, 'src'));
  await run.restore(tree);
  expect(lstatSync(join(run.dir, 'src')).isDirectory()).toBe(true);
  expect(treeAnew(run.dir)).toBe(tree);
});

it.each([
  ['is cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['is empty', () => Buffer.alloc(0)],
  [
    'is of another version',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 7), Buffer.of(9), bytes.subarray(8)]),
  ],
])('what is known of the files is learned anew where it %s', async (_, damaged) => {
  const run = await opened();
  await run.snapshot();
  const left = join(root, LEFT);
  writeFileSync(left, damaged(readFileSync(left)));
  writeFileSync(join(run.dir, 'a.txt'), 'two\n');
  const tree = await run.snapshot();
  expect(tree).toBe(treeAnew(run.dir));
  expect(await run.left()).toBe(tree);
});

const PATHS = ['a.txt', 'src', 'src/b.txt', 'src/c', 'moved', 'moved/b.txt', '.gitignore'] as const;
const path = fc.constantFrom(...PATHS);
const change = fc.oneof(
  fc.record({
    do: fc.constant('write' as const),
    path,
    text: fc.constantFrom('one\n', 'two\n', 'src\n', ''),
  }),
  fc.record({ do: fc.constant('remove' as const), path }),
  fc.record({ do: fc.constant('run' as const), path }),
  fc.record({ do: fc.constant('link' as const), path, to: path }),
  fc.record({ do: fc.constant('move' as const), path, to: path }),
  fc.record({ do: fc.constant('snapshot' as const) }),
  fc.record({ do: fc.constant('restore' as const), back: fc.nat(3) }),
  // Files that are older than a second are those of which something is known.
  ...(CASES > USUAL ? [fc.record({ do: fc.constant('wait' as const) })] : []),
);
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

/** What agents, checks and people do in a folder; what the file system does not allow is not done. */
function make(dir: string, made: Extract<Change, { path: string }>): void {
  const at = join(dir, made.path);
  try {
    if (made.do !== 'remove') mkdirSync(dirname(at), { recursive: true });
    if (made.do === 'remove') rmSync(at, { recursive: true });
    else if (made.do === 'run') chmodSync(at, 0o755);
    else if (made.do === 'write') writeFileSync(at, made.text);
    else if (made.do === 'link') symlinkSync(made.to, at);
    else renameSync(at, join(dir, made.to));
  } catch {}
}

it('a snapshot is what git makes of the folder anew, and a restored folder is its tree, whatever was done in it', {
  timeout: 50_000 + CASES * 2_000,
}, async () => {
  const run = await opened();
  const trees = [await run.snapshot()];
  const begin = trees[0] ?? '';
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 9 }), async (changes) => {
      await run.restore(begin);
      for (const each of changes) {
        if (each.do === 'snapshot') trees.push(await run.snapshot());
        else if (each.do === 'restore') await run.restore(trees.at(-1 - (each.back % trees.length)) ?? begin);
        else if (each.do === 'wait') await nextSecond();
        else make(run.dir, each);
      }
      const tree = await run.snapshot();
      expect(tree).toBe(treeAnew(run.dir));
      await run.restore(begin);
      expect(treeAnew(run.dir)).toBe(begin);
      expect(readdirSync(run.dir).toSorted()).toEqual(['.git', 'a.txt', 'src']);
    }),
    { numRuns: CASES },
  );
});

it('an attempt costs what has changed, in a repository of many files', { timeout: 60_000 }, async () => {
  const [files, bytes] = [2000, 2000];
  user.change(() => {
    const all = Array.from({ length: files }, (_, n) => `src/${n % 50}/${n}.txt`);
    for (const each of all) {
      mkdirSync(dirname(join(root, each)), { recursive: true });
      writeFileSync(join(root, each), `${each}\n`.padEnd(bytes, 'x'));
    }
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'Many');
    user.git('repack', '-adq');
  });
  const run = await opened();
  await nextSecond();
  writeFileSync(join(run.dir, 'a.txt'), 'two\n');
  const tree = await run.snapshot();
  const before = standing(run.dir);

  const read = bytesRead();
  writeFileSync(join(run.dir, 'a.txt'), 'six\n');
  const next = await run.snapshot();
  await run.list();
  expect(bytesRead() - read).toBeLessThan((files * bytes) / 2);
  expect(await run.compare(tree, next, 0)).toMatchObject({ files: [{ path: 'a.txt' }] });

  writeFileSync(join(run.dir, 'left-by-a-check.txt'), '');
  await run.discard(tree);
  const after = standing(run.dir);
  expect([...after].filter(([name, stamp]) => before.get(name) !== stamp).map(([name]) => name)).toEqual([
    'a.txt',
  ]);
  expect(after.size).toBe(before.size);
});

/** Every file by path: which one it is, and when it was last written. */
function standing(dir: string): ReadonlyMap<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const found = names.map((name) => [name, lstatSync(join(dir, name), { bigint: true })] as const);
  return new Map(
    found.flatMap(([name, stat]) => (stat.isFile() ? [[name, `${stat.ino} ${stat.ctimeNs}`]] : [])),
  );
}

/** By this process and the ended ones that it started; 0 where the system does not say. */
function bytesRead(): number {
  const io = '/proc/self/io';
  return existsSync(io) ? Number(/rchar: (\d+)/.exec(readFileSync(io, 'utf8'))?.[1]) : 0;
}

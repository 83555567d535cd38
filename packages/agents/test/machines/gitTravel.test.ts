import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunWorkspace } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bareRepository, gitIn, Machine, RUN, SharedFile } from './Machine.ts';

let root: string;
let url: string;
let one: Machine;
let two: Machine;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-machines-'));
  url = bareRepository(root, { 'a.txt': 'a\n', '.gitignore': 'built/\n' });
  machines({ repository: url });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function machines(options: ConstructorParameters<typeof Machine>[2]): void {
  const file = new SharedFile(join(root, 'cluster'));
  one = new Machine(join(root, 'one'), file, options);
  two = new Machine(join(root, 'two'), file, options);
}

async function commit(run: RunWorkspace, path: string, content = `${path}\n`): Promise<string> {
  await run.apply([{ path, content }]);
  return run.commit({ tree: await run.snapshot(), message: `Add ${path}`, stepKey: path });
}

/** The repository gets a commit that the run has not begun at. */
function moveOn(): void {
  const seed = join(root, 'seed');
  gitIn(seed, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'Later');
  gitIn(seed, 'push', '-q', join(root, 'origin.git'), 'main');
}

const isWhole = (machine: Machine): void =>
  expect(gitIn(machine.gitDir, 'fsck', '--strict', '--no-dangling')).toBe('');

describe('a run that goes on on another machine', () => {
  it('has its commits, its folder and its branch there', async () => {
    const there = await one.drive(1);
    const first = await commit(there, 'b.txt');
    await there.apply([{ path: 'c.txt', content: 'not committed\n' }]);
    await there.snapshot();
    one.arrive();

    const here = await two.drive(2);
    expect(two.files).toEqual({
      '.gitignore': 'built/\n',
      'a.txt': 'a\n',
      'b.txt': 'b.txt\n',
      'c.txt': 'not committed\n',
    });
    expect(await here.log()).toEqual([{ sha: first, subject: 'Add b.txt' }]);
    const second = await commit(here, 'd.txt');
    two.arrive();
    isWhole(two);

    const back = await one.drive(3);
    expect(one.files).toEqual(two.files);
    expect((await back.log()).map(({ sha }) => sha)).toEqual([first, second]);
    isWhole(one);
  });

  it('finds a commit by its step, and makes it once', async () => {
    const there = await one.drive(1);
    const tree = await there.snapshot();
    const sha = await there.commit({ tree, message: 'Once', stepKey: 'T1' });
    one.arrive();
    const here = await two.drive(2);
    expect(await here.commit({ tree, message: 'Once', stepKey: 'T1' })).toBe(sha);
  });

  it('leaves behind what did not arrive, also on the machine that has it', async () => {
    const there = await one.drive(1);
    await commit(there, 'b.txt');
    one.arrive();
    await commit(there, 'lost.txt');

    const here = await two.drive(2);
    const kept = await commit(here, 'kept.txt');
    two.arrive();

    const back = await one.drive(3);
    expect(Object.keys(one.files)).toEqual(['.gitignore', 'a.txt', 'b.txt', 'kept.txt']);
    expect((await back.log()).at(-1)?.sha).toBe(kept);
    isWhole(one);
  });

  it('takes the folder of a frozen driver of the same machine for nobody’s, and keeps what lies there', async () => {
    const frozen = await one.drive(1);
    await commit(frozen, 'b.txt');
    one.arrive();
    writeFileSync(join(frozen.dir, 'half.txt'), 'half\n');
    await two.drive(2);
    two.arrive();
    const back = await one.drive(3, false);
    expect(back.dir).not.toBe(frozen.dir);
    expect(one.files).toEqual(two.files);
    await expect(
      frozen.commit({ tree: await back.snapshot(), message: 'Late', stepKey: 'late' }),
    ).rejects.toMatchObject({
      code: 'LEASE_LOST',
    });
  });

  it('begins where it began, whatever the repository has by then', async () => {
    const there = await one.drive(1);
    const base = gitIn(one.gitDir, 'rev-parse', 'refs/devs/base');
    await commit(there, 'b.txt');
    one.arrive();
    moveOn();
    await two.drive(2);
    expect(gitIn(two.gitDir, 'rev-parse', 'refs/devs/base')).toBe(base);
  });

  it('says which commit is nowhere', async () => {
    const there = await one.drive(1);
    await commit(there, 'b.txt');
    one.arrive();
    const other = bareRepository(mkdtempSync(join(root, 'other-')), { 'x.txt': 'x\n' });
    const lost = new Machine(join(root, 'three'), one.file, { repository: other });
    await expect(lost.drive(2)).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  });

  it('keeps the commits of a sync and of a rewind', async () => {
    const there = await one.drive(1);
    await commit(there, 'b.txt');
    const gone = await commit(there, 'c.txt');
    one.arrive();
    moveOn();

    const here = await two.drive(2);
    const synced = await here.sync?.([gone]);
    expect(synced).toMatchObject({ commits: 2 });
    two.arrive();

    const back = await one.drive(3);
    const commits = [synced?.moved[gone] ?? ''];
    const request = { id: 'w1', commits, begun: [], unfinished: false, message: 'Without c' };
    const move = await back.withdraw?.(request);
    if (move === undefined) throw new TypeError('Expected a workspace that withdraws.');
    one.arrive();
    const again = await two.drive(4);
    await again.follow?.(move);
    expect(Object.keys(two.files)).toEqual(['.gitignore', 'a.txt', 'b.txt']);
    two.arrive();
    isWhole(two);
  });
});

describe('without a repository that all machines reach', () => {
  it('travels with the commit that it began at', async () => {
    machines({});
    const file = one.file;
    one = new Machine(join(root, 'local'), file, { repository: join(root, 'seed') });
    const there = await one.drive(1);
    await commit(there, 'b.txt');
    one.arrive();
    const here = await two.drive(2);
    expect(two.files).toEqual({ '.gitignore': 'built/\n', 'a.txt': 'a\n', 'b.txt': 'b.txt\n' });
    expect((await here.log()).map(({ subject }) => subject)).toEqual(['Add b.txt']);
    isWhole(two);
    await commit(here, 'c.txt');
    two.arrive();
    await one.drive(3);
    isWhole(one);
  });

  it('travels from nothing', async () => {
    machines({});
    await commit(await one.drive(1), 'b.txt');
    one.arrive();
    await two.drive(2);
    expect(two.files).toEqual({ 'b.txt': 'b.txt\n' });
  });
});

describe('what travels', () => {
  it('is small, and in fewer packs than there were snapshots', async () => {
    const there = await one.drive(1);
    for (let at = 0; at < 18; at += 1) {
      await there.apply([{ path: 'b.txt', content: `${at}\n` }]);
      await there.snapshot();
    }
    one.arrive();
    const packs = one.store.gitPacks.list(RUN);
    expect(packs.length).toBeLessThan(8);
    expect(packs[0]).toMatchObject({ level: 1 });
    const here = await two.drive(2);
    expect(await here.readAt?.(await here.snapshot(), 'b.txt')).toBe('17\n');
    isWhole(two);
    const trees = packs.flatMap(({ tips }) => tips);
    expect(trees.length).toBeGreaterThan(18);
    expect(gitIn(two.gitDir, 'rev-list', '--objects', ...trees)).not.toBe('');
  });

  it('goes in parts where it is large, and a part that never ended counts for nothing', async () => {
    const there = await one.drive(1);
    const { partBytes } = one.store;
    const bytes = Buffer.alloc(partBytes, 'no secret at all').toString('latin1');
    const noise = Array.from({ length: partBytes / 16 }, (_, at) =>
      ((at * 2654435761) >>> 0).toString(36),
    ).join('');
    await there.apply([{ path: 'large.txt', content: `${noise}${bytes}` }]);
    one.store.commit(() => {
      const pack = one.store.gitPacks.begin(RUN);
      const begun = {
        tips: ['0'.repeat(40)],
        bytes: new Uint8Array(partBytes + 1),
        level: 0,
        replaces: [],
      };
      one.store.gitPacks.putPart(RUN, { pack, part: 0 }, begun);
    });
    await there.snapshot();
    one.arrive();
    await two.drive(2);
    expect(two.files['large.txt']?.length).toBe(noise.length + bytes.length);
  });
});

describe('delivery to a URL', () => {
  const delivered = (): string => gitIn(join(root, 'origin.git'), 'rev-parse', `refs/heads/devs/${RUN}`);

  it('pushes the branch, by whichever machine', async () => {
    const there = await one.drive(1);
    const first = await commit(there, 'b.txt');
    expect(await there.deliver?.()).toEqual({ branch: `devs/${RUN}`, commit: first, held: null });
    one.arrive();
    const here = await two.drive(2);
    const second = await commit(here, 'c.txt');
    expect(await here.deliver?.()).toMatchObject({ held: null });
    expect(await here.deliver?.()).toMatchObject({ held: null });
    expect(delivered()).toBe(second);
    two.arrive();
  });

  it('is refused to a driver that was replaced', async () => {
    const zombie = await one.drive(1);
    await commit(zombie, 'b.txt');
    await zombie.deliver?.();
    one.arrive();
    await commit(zombie, 'late.txt');
    const here = await two.drive(2);
    const second = await commit(here, 'c.txt');
    await here.deliver?.();
    expect(await zombie.deliver?.()).toMatchObject({ held: 'changed' });
    expect(delivered()).toBe(second);
  });

  it('leaves a branch with commits of somebody else as it is', async () => {
    const there = await one.drive(1);
    await commit(there, 'b.txt');
    gitIn(join(root, 'seed'), 'push', '-q', join(root, 'origin.git'), `main:refs/heads/devs/${RUN}`);
    const others = gitIn(
      join(root, 'seed'),
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit-tree',
      'main^{tree}',
      '-p',
      'main',
      '-m',
      'Mine',
    );
    gitIn(join(root, 'seed'), 'push', '-q', join(root, 'origin.git'), `${others}:refs/heads/devs/${RUN}`);
    expect(await there.deliver?.()).toMatchObject({ held: 'changed' });
    expect(delivered()).toBe(others);
  });
});

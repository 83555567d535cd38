import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callMain } from '../../../test/support/callMain.ts';
import { RUN_EMPTY } from '../../../test/support/fixtures.ts';
import { projectAround } from '../Session.ts';

let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'devs-around-')));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

const folder = (...names: readonly string[]): string => {
  const made = join(home, ...names);
  mkdirSync(made, { recursive: true });
  return made;
};
const project = (...names: readonly string[]): string => {
  writeFileSync(join(folder(...names, '.devs'), 'config.json'), '{}');
  return join(home, ...names);
};
const found = (from: string): string => projectAround(from, home);

describe('the project around a folder', () => {
  it('is the nearest one', () => {
    const outer = project('outer');
    const inner = project('outer', 'inner');
    expect(found(folder('outer', 'src', 'deep'))).toBe(outer);
    expect(found(folder('outer', 'inner', 'src'))).toBe(inner);
    expect(found(inner)).toBe(inner);
  });

  it('may be the top of a repository, and nothing above it', () => {
    const outer = project('outer');
    const repository = folder('outer', 'library');
    const sub = folder('outer', 'library', 'src');
    expect(found(sub)).toBe(outer);
    writeFileSync(join(repository, '.git'), 'gitdir: elsewhere\n');
    expect(found(sub)).toBe(sub);
    project('outer', 'library');
    expect(found(sub)).toBe(repository);
  });

  it('is not the home folder, unless one stands in it', () => {
    project();
    const sub = folder('notes', 'today');
    expect(found(sub)).toBe(sub);
    expect(found(home)).toBe(home);
    expect(projectAround(sub, join(home, 'notes', 'gone'))).toBe(home);
  });

  it('does not look above the home folder', () => {
    project('outer');
    const inHome = folder('outer', 'me', 'notes');
    expect(projectAround(join(home, 'outer', 'me'), join(home, 'outer', 'me'))).toBe(
      join(home, 'outer', 'me'),
    );
    expect(projectAround(inHome, join(home, 'outer', 'me'))).toBe(inHome);
  });

  it("is no folder with another user's state, nor one above it", () => {
    project('outer');
    project('outer', 'inner');
    const sub = folder('outer', 'inner', 'src');
    const me = process.getuid?.() ?? 0;
    vi.spyOn(process, 'getuid').mockReturnValue(me + 1);
    expect(found(sub)).toBe(sub);
  });

  it('needs a state file or a configuration, not a mere .devs', () => {
    const outer = project('outer');
    folder('outer', 'inner', '.devs');
    expect(found(folder('outer', 'inner', 'src'))).toBe(outer);
    expect(found(join(home, 'gone'))).toBe(join(home, 'gone'));
  });
});

describe('a command in a folder of a project', () => {
  it('is about that project, also one that writes; --dir wins', async () => {
    const sub = folder('shop', 'src', 'pages');
    const top = join(home, 'shop');
    const env = { HOME: home };
    await callMain(top, ['init'], { env });
    await callMain(sub, RUN_EMPTY, { env });
    expect((await callMain(sub, ['status'], { env })).stdout).toContain('sum');
    expect((await callMain(top, ['status'], { env })).stdout).toContain('sum');
    expect((await callMain(sub, ['init'], { env })).stderr).toContain(join(top, '.devs', 'config.json'));
    expect((await callMain(sub, ['--dir', '.', 'status', 'sum'], { env })).stderr).toContain(sub);
  });

  it.each([
    ['is not there', 'mistyped'],
    ['is a file', 'brief.md'],
    ['is below a file', 'brief.md/deeper'],
  ])('refuses a --dir that %s, whatever the command, and makes nothing', async (_what, dir) => {
    const top = folder('empty');
    writeFileSync(join(top, 'brief.md'), '# Sum\n');
    const commands = [['run', 'brief.md', '--agents', 'none'], ['init'], ['status'], ['admin', 'chaos']];
    for (const command of commands) {
      const { exitCode, stderr } = await callMain(top, [...command, '--dir', dir]);
      expect(stderr).toBe(
        `CONFIG_INVALID: The folder ${join(top, dir)} of --dir does not exist.\n` +
          '  → Create it, or name your project folder.\n',
      );
      expect(exitCode).toBe(2);
    }
    expect(readdirSync(top)).toEqual(['brief.md']);
  });
});

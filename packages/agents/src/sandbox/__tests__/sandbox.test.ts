import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CheckSuite } from '../../checks/CheckSuite.ts';
import { CommandChecks } from '../../checks/CommandChecks.ts';
import { bubblewrap } from '../bubblewrap.ts';
import { findSandbox } from '../findSandbox.ts';
import { type Confinement, customSandbox } from '../Sandbox.ts';

// Not `tmpdir()`: nothing below /dev or /run is shown, where some machines have it.
const TEMPORARY = '/tmp';

/** The folder that this Node.js is installed in: shown wherever it lies. */
const OWN_NODE = dirname(dirname(realpathSync(process.execPath)));

let project: string;
let place: Confinement;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(TEMPORARY, 'devs-sandbox-')));
  const workspace = join(project, '.devs-work', 'run');
  const [dir, scratch] = [join(workspace, 'packages', 'api'), join(project, 'scratch')];
  for (const folder of [dir, scratch, join(project, '.devs')]) mkdirSync(folder, { recursive: true });
  place = { workspace, dir, scratch, network: false };
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(project, { recursive: true, force: true });
});

/** Where `words` stand in the prefix, in a row; -1 for nowhere. */
function placeOf(prefix: readonly string[], ...words: readonly string[]): number {
  return prefix.findIndex((_, index) => words.every((word, offset) => prefix[index + offset] === word));
}

describe('bubblewrap', () => {
  test('covers the engine after everything readable, and shows the workspace after that', () => {
    const prefix = bubblewrap({ project, readable: [project] }).prefix(place);
    const hidden = placeOf(prefix, '--tmpfs', project);
    const readable = placeOf(prefix, '--ro-bind', project, project);
    const engine = placeOf(prefix, '--tmpfs', join(project, '.devs'));
    const workspace = placeOf(prefix, '--bind', place.workspace, place.workspace);
    expect(hidden).toBeGreaterThan(placeOf(prefix, '--ro-bind-try', '/usr', '/usr'));
    expect(workspace).toBeLessThan(placeOf(prefix, '--remount-ro', '/'));
    expect([hidden, readable, engine, workspace]).toEqual(
      [hidden, readable, engine, workspace].toSorted((a, b) => a - b),
    );
    expect(prefix.slice(-3)).toEqual(['--chdir', place.dir, '--']);
  });

  test('hides the home of the user', () => {
    expect(
      placeOf(bubblewrap({ project }).prefix(place), '--tmpfs', realpathSync(homedir())),
    ).toBeGreaterThan(0);
  });

  test('does not show a home because the PATH names it', () => {
    vi.stubEnv('PATH', `${homedir()}:/:/tmp:${project}:relative`);
    const prefix = bubblewrap({ project }).prefix(place);
    for (const path of [realpathSync(homedir()), '/tmp', project]) {
      expect(placeOf(prefix, '--ro-bind', path, path)).toBe(-1);
    }
  });

  test('begins with nothing, and shows no folder of data, settings or sockets', () => {
    vi.stubEnv('PATH', '/usr/local/bin:/usr/bin:/bin:/opt:/srv:/etc:/var:/run:/var/lib:/mnt:/home');
    const prefix = bubblewrap({ project }).prefix({ ...place, network: true });
    const shown = prefix.filter((_, index) => /^--(?:ro-)?bind/.test(prefix[index - 2] ?? ''));
    expect(shown).toContain('/usr');
    for (const path of shown.filter((one) => one !== OWN_NODE)) {
      expect(path).toMatch(
        /^\/(?:usr|bin|sbin|lib\w*|nix\/store|gnu\/store|proc\/sys|proc\/sysrq-trigger|sys\/devices\/system\/cpu|etc\/.+|tmp\/devs-sandbox-.+)$/,
      );
    }
    const settings = shown.filter((path) => path.startsWith('/etc/'));
    for (const secret of [
      'shadow',
      'gshadow',
      'sudoers',
      'ssh',
      'ssl',
      'ssl/private',
      'gitconfig',
      'docker',
    ]) {
      expect(settings).not.toContain(`/etc/${secret}`);
    }
  });

  describe('with tools in a home', () => {
    let home: string;
    const at = (...parts: readonly string[]): string => join(home, ...parts);
    const install = (file: string): string => {
      mkdirSync(dirname(at(file)), { recursive: true });
      writeFileSync(at(file), '#!/bin/sh\n', { mode: 0o755 });
      return at(file);
    };
    const link = (from: string, to: string): void => {
      mkdirSync(dirname(at(to)), { recursive: true });
      symlinkSync(at(from), at(to));
    };
    const prefixWith = (...folders: readonly string[]): readonly string[] => {
      vi.stubEnv('HOME', home);
      vi.stubEnv('PATH', folders.map((folder) => at(folder)).join(':'));
      return bubblewrap({ project }).prefix(place);
    };
    const isShown = (prefix: readonly string[], path: string): boolean =>
      placeOf(prefix, '--ro-bind', at(path), at(path)) > 0;
    const settingOf = (prefix: readonly string[], name: string): string | undefined =>
      prefix[placeOf(prefix, '--setenv', name) + 2];

    beforeEach(() => {
      home = join(project, 'scratch', 'home');
      mkdirSync(home);
    });

    test('shows what a link on the PATH leads to, and not what lies beside it', () => {
      install('.nvm/versions/node/v20/bin/node');
      install('.nvm/versions/node/v20/lib/node_modules/npm/bin/npm-cli.js');
      link('.nvm/versions/node/v20/lib/node_modules/npm/bin/npm-cli.js', '.nvm/versions/node/v20/bin/npm');
      link('.nvm/versions/node/v20/bin', '.run/fnm_multishells/1');
      install('.local/share/agent/versions/1/agent');
      link('.local/share/agent/versions/1/agent', '.local/bin/agent');
      install('.local/share/keyrings/login');
      install('.cargo/bin/cargo');
      install('.cargo/credentials.toml');
      const prefix = prefixWith('.run/fnm_multishells/1', '.local/bin', '.cargo/bin');
      for (const path of [
        '.nvm/versions/node/v20',
        '.local/bin',
        '.local/share/agent/versions/1',
        '.cargo/bin',
      ]) {
        expect(isShown(prefix, path), path).toBe(true);
      }
      expect(isShown(prefix, '.nvm/versions/node/v20/bin'), 'twice').toBe(false);
      for (const path of ['', '.local', '.local/share', '.cargo', '.nvm', '.run']) {
        expect(isShown(prefix, path), path).toBe(false);
      }
    });

    test('shows a program that lies in a home, and not the home', () => {
      vi.stubEnv('HOME', home);
      const file = install('agent.sh');
      const prefix = bubblewrap({ project }).prefix({ ...place, readable: [home, file] });
      expect(isShown(prefix, 'agent.sh')).toBe(true);
      expect(isShown(prefix, '')).toBe(false);
    });

    test('lets shims of version managers find their tools, and is itself the first Node.js', () => {
      const shims = ['.volta/bin', '.asdf/shims', '.local/share/mise/shims', '.pyenv/shims'];
      for (const shim of shims) install(`${shim}/node`);
      const prefix = prefixWith(...shims);
      for (const [folder, variable] of [
        ['.volta', 'VOLTA_HOME'],
        ['.asdf', 'ASDF_DATA_DIR'],
        ['.local/share/mise', 'MISE_DATA_DIR'],
        ['.pyenv', 'PYENV_ROOT'],
      ] as const) {
        expect(isShown(prefix, folder), folder).toBe(true);
        expect(settingOf(prefix, variable)).toBe(at(folder));
      }
      const [first, ...rest] = (settingOf(prefix, 'PATH') ?? '').split(':');
      expect(first).toBe(dirname(realpathSync(process.execPath)));
      expect(rest).toEqual(shims.map((shim) => at(shim)));
    });

    test('shows the programs of a folder on the PATH that the project lies in, and not the project', () => {
      install('bin/tool');
      const below = at('bin', 'project');
      const inside = { workspace: '.devs-work/run', scratch: 'scratch' };
      for (const folder of Object.values(inside)) mkdirSync(join(below, folder), { recursive: true });
      vi.stubEnv('HOME', home);
      vi.stubEnv('PATH', at('bin'));
      const [workspace, scratch] = [join(below, inside.workspace), join(below, inside.scratch)];
      const prefix = bubblewrap({ project: below }).prefix({
        dir: workspace,
        workspace,
        scratch,
        network: false,
      });
      const programs = placeOf(prefix, '--ro-bind', at('bin'), at('bin'));
      const covered = prefix.lastIndexOf(below);
      expect(programs).toBeGreaterThan(0);
      expect(prefix[covered - 1]).toBe('--tmpfs');
      expect(covered).toBeGreaterThan(programs);
      expect(placeOf(prefix, '--bind', workspace, workspace)).toBeGreaterThan(covered);
      vi.stubEnv('PATH', home);
      expect(
        isShown(
          bubblewrap({ project: below }).prefix({ dir: workspace, workspace, scratch, network: false }),
          '',
        ),
      ).toBe(false);
    });

    test('shows no project because its bin is on the PATH', () => {
      install('a/b/c/project/bin/tool');
      mkdirSync(at('a/b/c/project/.git'));
      const prefix = prefixWith('a/b/c/project/bin');
      expect(isShown(prefix, 'a/b/c/project/bin')).toBe(true);
      expect(isShown(prefix, 'a/b/c/project')).toBe(false);
    });
  });

  test('gives a network only to those who need one', () => {
    const sandbox = bubblewrap({ project });
    expect(sandbox.prefix(place)).not.toContain('--share-net');
    expect(sandbox.prefix({ ...place, network: true })).toContain('--share-net');
  });
});

describe('a sandbox of your own', () => {
  test('is told the paths and whether there is a network', () => {
    const sandbox = customSandbox(['box', '-w={workspace}', '{dir}', '{scratch}', '{network}', '{other}']);
    expect(sandbox.name).toBe('box');
    expect(sandbox.prefix(place)).toEqual([
      'box',
      `-w=${place.workspace}`,
      place.dir,
      place.scratch,
      'off',
      '{other}',
    ]);
    expect(() => customSandbox([])).toThrow(TypeError);
  });

  test('stands in front of every check, with the workspace around its folder', async () => {
    const sandbox = customSandbox(['env', 'ROOT={workspace}', 'DIR={dir}', 'NETWORK={network}']);
    const argv = [process.execPath, '-e', 'console.log(Object.values(process.env).join())'];
    const checks = new CheckSuite([
      { name: 'api', dir: 'packages/api', checks: new CommandChecks({ argv, sandbox }) },
    ]);
    const { output, command } = await checks.run({
      dir: place.workspace,
      signal: AbortSignal.timeout(20_000),
    });
    expect(output).toContain(`${place.workspace},${place.dir},off`);
    expect(command).not.toContain('ROOT=');
  });
});

describe('the chosen sandbox', () => {
  test('is none only where none was chosen', async () => {
    expect(await findSandbox('none', { project })).toBeNull();
    expect(await findSandbox(['box'], { project })).toMatchObject({ name: 'box' });
  });

  test('is refused where it does not run', async () => {
    vi.stubEnv('PATH', project);
    const { findSandbox: find } = await import('../findSandbox.ts?fresh' as string);
    await expect(find('bwrap', { project })).rejects.toMatchObject({
      code: 'SANDBOX_MISSING',
      remedy: expect.stringContaining('--no-sandbox'),
    });
  });
});

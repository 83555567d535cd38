import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CheckSuite } from '../../checks/CheckSuite.ts';
import { CommandChecks } from '../../checks/CommandChecks.ts';
import { bubblewrap } from '../bubblewrap.ts';
import { customSandbox } from '../customSandbox.ts';
import { findSandbox } from '../findSandbox.ts';
import type { Confinement } from '../Sandbox.ts';

let project: string;
let place: Confinement;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'devs-sandbox-')));
  const workspace = join(project, '.devs-work', 'run');
  const [dir, scratch] = [join(workspace, 'packages', 'api'), join(project, 'scratch')];
  for (const folder of [dir, scratch, join(project, '.devs')]) mkdirSync(folder, { recursive: true });
  place = { workspace, dir, scratch, network: false };
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
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
    expect(hidden).toBeGreaterThan(placeOf(prefix, '--ro-bind', '/', '/'));
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

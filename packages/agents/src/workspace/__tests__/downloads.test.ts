import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckResult, Checks } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { PASSED } from '../../../test/support/passedSetup.ts';
import { CommandChecks } from '../../checks/CommandChecks.ts';
import { packageDownloads } from '../../process/packageDownloads.ts';
import { bubblewrap } from '../../sandbox/bubblewrap.ts';
import { customSandbox } from '../../sandbox/Sandbox.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const NEVER = new AbortController().signal;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-downloads-'));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('downloads of setup', () => {
  it('are kept for the commit of a person, and never where work has changed a file', async () => {
    const user = UserCheckout.create(root);
    user.write('package.json', '{}\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
    const given: (string | undefined)[] = [];
    const setup: Checks = {
      run: async ({ downloads }) => {
        given.push(downloads);
        return PASSED;
      },
    };
    const workspace = new GitWorkspace({ dir: root, repository: root, setup, setupArgv: ['setup'] });
    const run = await workspace.open('run-1');
    const kept = join(root, '.devs', 'downloads');
    expect(given).toEqual([kept]);
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    await run.apply([{ path: 'package.json', content: '{ "scripts": { "postinstall": "evil" } }\n' }]);
    await run.ready?.(await run.snapshot(), NEVER);
    expect(given).toEqual([kept, undefined]);
    await workspace.remove('run-1', { force: true });
    await workspace.sweep(new Set());
    expect(existsSync(kept)).toBe(false);
  });

  it('let npm install again without its registry, as files of its own', async () => {
    const registry = await packageRegistry();
    const downloads = join(root, 'downloads');
    mkdirSync(downloads);
    const install = async (name: string, argv: readonly string[], lock?: string): Promise<CheckResult> => {
      const dir = join(root, name);
      mkdirSync(dir);
      writeFileSync(join(dir, 'package.json'), '{ "dependencies": { "left": "1.0.0" } }');
      if (lock !== undefined) writeFileSync(join(dir, 'package-lock.json'), lock);
      const options = ['--registry', registry.url, '--no-audit', '--no-fund', '--fetch-retries', '0'];
      const checks = new CommandChecks({ argv: [...argv, ...options] });
      return checks.run({ dir, signal: NEVER, downloads });
    };
    const first = await install('first', ['npm', 'install']);
    expect(first.output).not.toContain('ERR');
    await registry.close();
    const again = await install(
      'again',
      ['npm', 'ci'],
      readFileSync(join(root, 'first/package-lock.json'), 'utf8'),
    );
    expect(again).toMatchObject({ passed: true });
    expect(statSync(join(root, 'again/node_modules/left/package.json')).nlink).toBe(1);
  });

  it('are lent through a sandbox that can show them, and through no other', async () => {
    const said = async (sandbox: Parameters<typeof bubblewrapped>[0]): Promise<string> => {
      const checks = new CommandChecks({ argv: ['sh', '-c', 'echo "$npm_config_cache"'], sandbox });
      return (await checks.run({ dir: root, signal: NEVER, downloads: join(root, 'kept') })).output.trim();
    };
    expect(await said(null)).toBe(join(root, 'kept', 'npm'));
    expect(await said(customSandbox(['env']))).toBe('');
    expect(bubblewrapped(bubblewrap({ project: root }))).toMatch(/--bind \S+kept \S+kept/);
  });

  it('are copied by every package manager that is told of them', () => {
    const variables = packageDownloads('/kept');
    expect(variables['npm_config_package_import_method']).toBe('copy');
    expect(variables['UV_LINK_MODE']).toBe('copy');
    // Bun links hard, whatever its environment says.
    expect(Object.keys(variables).filter((name) => /bun/i.test(name))).toEqual([]);
  });

  function bubblewrapped(sandbox: ReturnType<typeof customSandbox> | null): string {
    for (const name of ['kept', 'scratch', '.devs', '.devs-work'])
      mkdirSync(join(root, name), { recursive: true });
    const place = { workspace: root, dir: root, scratch: join(root, 'scratch'), network: false };
    return sandbox?.prefix({ ...place, writable: [join(root, 'kept')] }).join(' ') ?? '';
  }
});

/** With one package, `left` 1.0.0. */
async function packageRegistry(): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const folder = join(root, 'made', 'package');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "left", "version": "1.0.0" }');
  const tarball = execFileSync('tar', ['-czf', '-', '-C', join(root, 'made'), 'package']);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const dist = { tarball: `http://127.0.0.1:${port}/left/-/left-1.0.0.tgz`, integrity };
    const versions = { '1.0.0': { name: 'left', version: '1.0.0', dist } };
    return response.end(JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

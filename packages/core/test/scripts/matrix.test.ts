import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-registry-'));
});

afterAll(() => rmSync(dir, { recursive: true }));

const manifest = { name: '@devs/small', version: '1.2.3', engines: { node: '>=22.12' } };

function packed(): string {
  mkdirSync(join(dir, 'package'));
  writeFileSync(join(dir, 'package', 'package.json'), JSON.stringify(manifest));
  const file = join(dir, 'small.tgz');
  execFileSync('tar', ['-czf', file, 'package'], { cwd: dir });
  return file;
}

/** What the registry answers: asked by a process of its own, since it is a script. */
const ASK = `
  import { createHash } from 'node:crypto';
  import { serveRegistry } from './scripts/matrix/loopbackRegistry.mjs';
  const { url, close } = await serveRegistry([process.argv[1]], 'http://127.0.0.1:9/npm/');
  const ask = (path, init) => fetch(new URL(path, url), { redirect: 'manual', ...init });
  const found = await (await ask('@devs%2fsmall')).json();
  const { dist, ...version } = found.versions['1.2.3'];
  const bytes = new Uint8Array(await (await fetch(dist.tarball)).arrayBuffer());
  const other = await ask('@langchain%2fcore');
  const put = await ask('@devs%2fsmall', { method: 'PUT' });
  console.log(JSON.stringify({
    host: new URL(url).hostname,
    latest: found['dist-tags'].latest,
    version,
    isWhole: dist.integrity === 'sha512-' + createHash('sha512').update(bytes).digest('base64'),
    other: [other.status, other.headers.get('location')],
    put: put.status,
  }));
  close();`;

test('the registry on loopback serves what was packed, and sends on for the rest', () => {
  const args = ['--input-type=module', '-e', ASK, packed()];
  expect(JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))).toEqual({
    host: '127.0.0.1',
    latest: '1.2.3',
    version: manifest,
    isWhole: true,
    other: [302, 'http://127.0.0.1:9/npm/@langchain%2fcore'],
    put: 405,
  });
});

test('a Node.js or a part that is not there is said so, before anything is downloaded', () => {
  const matrix = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['scripts/matrix.mjs', ...args], { cwd: root, encoding: 'utf8' });
  expect(matrix('--node', '19')).toMatchObject({ status: 2, stderr: expect.stringContaining('no 19') });
  expect(matrix('--only', 'nothing')).toMatchObject({ status: 2, stderr: expect.stringContaining('packed') });
  expect(matrix('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('26.10.0') });
});

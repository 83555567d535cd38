import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { programFile } from '../../core/test/support/programFile.ts';

const dir = mkdtempSync(join(tmpdir(), 'devs-npx-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('SIGTERM to npx, which passes it on to nobody, stops what it has started', async () => {
  const [bin, said] = [join(dir, 'node_modules', '.bin', 'devs'), join(dir, 'said')];
  mkdirSync(join(dir, 'node_modules', '.bin'), { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{ "private": true }');
  writeFileSync(
    bin,
    `#!/bin/sh\nexec ${process.execPath} ${programFile(new URL('npx.child.ts', import.meta.url))} "$@"\n`,
  );
  chmodSync(bin, 0o755);
  const npx = spawn('npx', ['--offline', 'devs', said], { cwd: dir, stdio: 'ignore' });
  const ended = once(npx, 'exit');
  await expect.poll(() => existsSync(said)).toBe(true);
  npx.kill('SIGTERM');
  await ended;
  await expect.poll(() => readFileSync(said, 'utf8')).toMatch(/^\d+\nnpx has ended\n$/);
});

import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { spawnProgram } from '../../../test/support/spawnTs.ts';

// In a process of its own: one that waits for the other end of a pipe cannot be stopped from within.
test('a state file that is a named pipe is refused, and nobody waits for its other end', async ({
  dbPath,
}) => {
  const pipe = `${dbPath}.pipe`;
  execFileSync('mkfifo', [pipe]);
  const { finished, child } = spawnProgram('packages/core/src/db/__tests__/openPipe.child.ts', [pipe]);
  const limit = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const { stdout, stderr } = await finished;
  clearTimeout(limit);
  expect(stdout.trim().split('\n'), stderr).toEqual(['CONFIG_INVALID', 'CONFIG_INVALID']);
});

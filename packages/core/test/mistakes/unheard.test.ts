import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';

test('a program that looks at nothing exits with an error and its message when the model throws', async ({
  dbPath,
}) => {
  const { code, stderr } = await spawnProgram('packages/core/test/mistakes/unheard.child.ts', [dbPath])
    .finished;
  expect(code).toBe(1);
  expect(stderr).toContain('Run "post-42" has failed: The model is down.');
  expect(stderr).toContain('Fix the cause, then resume the run.');
});

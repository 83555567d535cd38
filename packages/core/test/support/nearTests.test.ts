import { expect, test, vi } from 'vitest';
import { noTestFound } from './nearTests.ts';

interface Configured {
  readonly plugins: readonly [{ readonly configureVitest: (context: unknown) => void }];
}

const PATHS = [
  'packages/core/src/orchestrator/__tests__/recursionGuard.test.ts',
  'packages/core/src/engine/guards/__tests__/guards.test.ts',
  'packages/core/src/state/__tests__/langgraph-checkpoints.test.ts',
  'packages/core/src/engine/drive/__tests__/lateCheckpoint.test.ts',
];

test.each([
  ['another folder', 'src/guards/recursionGuard.test.ts', PATHS[0]],
  ['another case', 'RECURSIONguard', PATHS[0]],
  ['a letter less', 'src/state/langgraph-checkpoint.test.ts', PATHS[2]],
])('%s: the sentence names the file that was meant', (_what, filter, meant) => {
  expect(noTestFound([filter], PATHS)).toBe(`No path of a test file contains "${filter}". Near it: ${meant}`);
});

test('what is like nothing has no near names, and several filters are one sentence', () => {
  expect(noTestFound(['xyzzy', 'plugh'], PATHS)).toBe('No path of a test file contains "xyzzy" or "plugh".');
});

test('Vitest says it in the place of the patterns of every project, unless nothing was typed', async () => {
  const config = new URL('../../../../vitest.config.ts', import.meta.url);
  const { default: configured } = (await import(config.href)) as { default: Configured };
  const usual = vi.fn();
  const logger = { printNoTestFound: usual, error: vi.fn() };
  configured.plugins[0].configureVitest({ vitest: { config: { watch: false }, logger } });

  logger.printNoTestFound(['recursionGard']);
  expect(logger.error).toHaveBeenCalledWith(
    `No path of a test file contains "recursionGard". Near it: ${PATHS[0]}`,
  );
  expect(usual).not.toHaveBeenCalled();
  logger.printNoTestFound([]);
  expect(usual).toHaveBeenCalledOnce();
});

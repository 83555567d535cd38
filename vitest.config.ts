import { availableParallelism } from 'node:os';
import { env, versions } from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { keepsModules, MODULE_CACHE } from './packages/core/test/support/moduleCache.ts';
import { noTestFound } from './packages/core/test/support/nearTests.ts';
import { newestClients } from './packages/server/test/support/newestClients.ts';
import projects, { testPaths } from './vitest.workspace.ts';

// Workspace packages resolve to their TypeScript sources: no build before a test. Vitest runs test files
// through the `ssr` environment, so `resolve.conditions` alone has no effect. Without Vite's own `module`: Node.js does not have it,
// and packages give it what Node.js cannot load.
const conditions = ['@devs/source', 'node', 'development|production'];

/** What guards the state file is held higher than the rest. */
const DURABLE = 'packages/core/src/{db/**,state/**,engine/saver/SqliteSaver.ts}';

/** What the tests of a module alone have to cover of it. */
const OF_MODULES = {
  'packages/core/src/state/CheckpointPersister.ts': { branches: 90 },
  'packages/core/src/engine/gates/TaskFailureGate.ts': { lines: 90 },
};

// Only for complete runs (`pnpm verify`): a filtered run leaves most files uncovered. Not per file: what a test
// proves in a process of its own is not counted, and which branch a race takes differs from run to run.
const thresholds = {
  lines: 95,
  functions: 95,
  statements: 95,
  branches: 90,
  [DURABLE]: { branches: 90 },
  ...OF_MODULES,
};

/**
 * Most code runs a few times in a test: what its optimised form would save is less than to make it takes. From Node.js 22 on, V8
 * has no such option.
 */
const optimisingLate = versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : [];

/** Absolute: the projects read it too, each from its own folder. */
const support = (name: string): string =>
  fileURLToPath(new URL(`packages/core/test/support/${name}`, import.meta.url));

const wanted = { all: thresholds, modules: OF_MODULES }[env['DEVS_COVERAGE_THRESHOLDS'] ?? ''];

/** One sentence, where Vitest prints the patterns of every project. */
const saysWhatIsNear: Plugin = {
  name: 'devs:near-tests',
  configureVitest({ vitest: { config, logger } }) {
    const usual = logger.printNoTestFound;
    logger.printNoTestFound = (filters = []) => {
      if (filters.length === 0 || config.watch) usual.call(logger, filters);
      else logger.error(noTestFound(filters, testPaths()));
    };
  },
};

export default defineConfig({
  plugins: [saysWhatIsNear, newestClients],
  ssr: { resolve: { conditions } },
  test: {
    projects,
    pool: 'forks',
    experimental: { fsModuleCache: keepsModules, fsModuleCachePath: MODULE_CACHE },
    // Part of the time is waiting for processes and timers: as many workers as processors leave some of them idle.
    maxWorkers: availableParallelism() + 1,
    execArgv: ['--expose-gc', ...optimisingLate],
    globalSetup: support('bareMachine.ts'),
    setupFiles: ['failOnNoise.ts', 'sameCases.ts', 'processorTime.ts'].map(support),
    passWithNoTests: false,
    // Who polls waits for a condition, not for a time: a second is short on a machine that is busy.
    expect: { poll: { timeout: 30_000 } },
    // Only what is slow enough to be looked at is named one by one, ms.
    slowTestThreshold: 10_000,
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: [
        '**/__tests__/**',
        '**/bin.ts',
        'packages/cli/src/chaos/{driver,observe,runChaos}.ts',
        '**/index.ts',
        'packages/core/src/{langgraph,runs,state}.ts',
      ],
      reporter: ['text-summary', 'json-summary', 'lcov'],
      reportsDirectory: 'coverage',
      ...(wanted === undefined ? {} : { thresholds: wanted }),
    },
  },
});

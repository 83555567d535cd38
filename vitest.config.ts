import { defineConfig } from 'vitest/config';
import projects from './vitest.workspace.ts';

// Workspace packages resolve to their TypeScript sources: no build before a test. Vitest runs test files
// through the `ssr` environment, so `resolve.conditions` alone has no effect.
const conditions = ['@devs/source', 'module', 'node', 'development|production'];

export default defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    projects,
    pool: 'forks',
    execArgv: ['--expose-gc'],
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      exclude: ['**/__tests__/**', '**/bin.ts', '**/index.ts', 'packages/core/src/{langgraph,state,internal}.ts'],
      reporter: ['text-summary', 'json-summary', 'lcov'],
      reportsDirectory: 'coverage',
    },
  },
});

import { existsSync, readdirSync } from 'node:fs';
import type { TestProjectConfiguration } from 'vitest/config';

// Vitest 4 reads no vitest.workspace.ts by itself: vitest.config.ts imports this list as `test.projects`.

const packagesFolder = new URL('./packages/', import.meta.url);
const packages = readdirSync(packagesFolder).filter((name) =>
  existsSync(new URL(`${name}/package.json`, packagesFolder)),
);

/** One project per package: unit tests beside the code, suites that start processes in test/. */
const project = (name: string): TestProjectConfiguration => ({
  extends: true,
  test: {
    name,
    root: `./packages/${name}`,
    include: ['src/**/__tests__/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/conformance/**'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

/** LangGraph's checkpointer conformance suite; it calls describe/it/expect as globals. */
const conformance: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'conformance',
    root: './packages/core',
    include: ['test/conformance/**/*.test.ts'],
    globals: true,
  },
};

const projects: TestProjectConfiguration[] = [...packages.map(project), conformance];

export default projects;

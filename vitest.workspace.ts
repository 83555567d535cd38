import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { TestProjectConfiguration } from 'vitest/config';

// Vitest 4 reads no vitest.workspace.ts by itself: vitest.config.ts imports this list as `test.projects`.

const root = fileURLToPath(new URL('.', import.meta.url));
const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);

/** Unit tests beside the code, suites that start processes in test/. */
const OWN = ['src/**/__tests__/**/*.own.test.ts', 'test/**/*.own.test.ts'];
/** What looks after files that share a process. */
const guard = (name: string): string => join(root, 'packages/core/test/support', name);
const GUARD = guard('leavesNothing.ts');

type Sharing = 'own' | 'traces' | 'shared';

/**
 * The end of its name says which process a file has: `X.own.test.ts` one of its own, because it changes what it cannot take back
 * and no other file stands; `X.traces.test.ts` one with the others that do; any other file one that it leaves as it found it.
 * `scripts/check-tests.mjs` finds the file in the wrong kind.
 */
const sharingOf = (path: string): Sharing =>
  (/\.(own|traces)\.test\.ts$/.exec(path)?.[1] ?? 'shared') as Sharing;

/** Whether the suites that can are run once more, through `Runs`, and nothing else is: see `packages/core/test/support/runs`. */
const throughRuns = (env['DEVS_TEST_RUNS'] ?? '') !== '';

/** A server of PostgreSQL is made within a test. */
const LIMIT_MS = throughRuns ? 300_000 : 60_000;
const LIMITS = { testTimeout: LIMIT_MS, hookTimeout: LIMIT_MS };

/** By what it imports: that is what goes through them, and a name would say it twice. */
const goesThroughRuns = (path: string): boolean =>
  /support\/runs\/(?:durable|orchestrator)\.ts'/.test(readFileSync(path, 'utf8'));

/** The test files of a package, from the root of the repository. */
const testFiles = (name: string): string[] =>
  ['src', 'test']
    .map((folder) => join('packages', name, folder))
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, String(file))),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => !throughRuns || goesThroughRuns(join(root, file)))
    .map((file) => file.replaceAll('\\', '/'));

/** Packages with many test files have a project each; each starts workers of its own, so the others have one together. */
const MANY = ['agents', 'cli', 'core'];
const groups = [...MANY.map((name) => [name]), packages.filter((name) => !MANY.includes(name))];

const files = new Map(
  packages.map((name) => [name, testFiles(name).map((path) => ({ path, sharing: sharingOf(path) }))]),
);
const filesThat = (sharing: Sharing, names: readonly string[]): string[] =>
  names
    .flatMap((name) => files.get(name) ?? [])
    .flatMap((file) => (file.sharing === sharing ? file.path : []));

/** Those of each group that may follow each other in one process. */
const sharing = new Map(groups.map((names) => [names.join(', '), filesThat('shared', names)]));
const leavingTraces = filesThat('traces', packages);

/** A process for each file: what a file changes, no other one sees. */
const own: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'own',
    root: '.',
    include: OWN.flatMap((files) => packages.map((name) => `packages/${name}/${files}`)),
    ...LIMITS,
  },
};

/**
 * The files of a group that change nothing of the process: each worker imports LangGraph and the sources once for all of
 * them. Not those of all packages in one: a process that has run two hundred files holds 400 MiB, and Linux copies the
 * tables of that memory for every git and `devs` that it starts, 16 ms instead of 2.
 */
const shared = ([names, include]: readonly [string, string[]]): TestProjectConfiguration => ({
  extends: true,
  test: {
    name: `shared ${names}`,
    root: '.',
    include,
    isolate: false,
    ...LIMITS,
    setupFiles: [GUARD],
  },
});

/** The few files of all packages that know a secret, or drive a browser. */
const traces: TestProjectConfiguration = {
  extends: true,
  test: {
    name: 'traces',
    root: '.',
    include: leavingTraces,
    isolate: false,
    ...LIMITS,
    setupFiles: [guard('leavesTraces.ts')],
  },
};

const projects: TestProjectConfiguration[] = [
  ...(throughRuns ? [] : [own, traces]),
  ...[...sharing].filter(([, include]) => include.length > 0).map(shared),
];

/** Of every test file that there is, from the root. */
export const testPaths = (): string[] => [...files.values()].flat().map(({ path }) => path);

export default projects;

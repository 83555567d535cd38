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
const TESTS = ['src/**/__tests__/**/*.test.ts', 'test/**/*.test.ts'];
/** What looks after files that share a process. */
const guard = (name: string): string => join(root, 'packages/core/test/support', name);
const GUARD = guard('leavesNothing.ts');

/** What a test file changes for its whole process and no other file stands: modules, the heap, what is masked. */
const OWN_PROCESS = [
  /\bvi\.(?:mock|doMock|hoisted|resetModules)\b/,
  /\bglobalThis\.gc\b/,
  /(?<!")\bsecretRegistry\b/,
];
/** The same, unless it is done to a registry of its own. */
const MASKED = [/\bregisterSecrets\b|\bmask: 'broad'/];

/** What it cannot take back either, and others that do such a thing stand. */
const TRACES = [
  // Playwright wraps `process.cwd`.
  /\bopenChromium\b/,
  // A value once known to be secret stays so; one of three letters is too short for that.
  /\bModelHost\b|\bapiKey: (?!'key')|_API_KEY(?:'?: |', )(?!'key')|\bstubEnv\('\w+_TOKEN'/,
];

/** What these make known to be secret is in registries of their own, unless they name that of the process. */
const OWN_REGISTRIES = join('core', 'src', 'masking');

type Sharing = 'own' | 'traces' | 'shared';

function sharingOf(path: string): Sharing {
  const text = readFileSync(path, 'utf8');
  const has = (changes: readonly RegExp[]): boolean => changes.some((change) => change.test(text));
  if (has(OWN_PROCESS)) return 'own';
  if (path.includes(OWN_REGISTRIES)) return 'shared';
  if (has(MASKED)) return 'own';
  return has(TRACES) ? 'traces' : 'shared';
}

/** Whether the suites that can are run once more, through `Runs`, and nothing else is: see `packages/core/test/support/runs`. */
const throughRuns = (env['DEVS_TEST_RUNS'] ?? '') !== '';

/** A server of PostgreSQL is made within a test. */
const LIMIT_MS = throughRuns ? 300_000 : 60_000;
const LIMITS = { testTimeout: LIMIT_MS, hookTimeout: LIMIT_MS };

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

/** Each file of a package is read once. */
const files = new Map(
  packages.map((name) => [
    name,
    testFiles(name).map((path) => ({ path, sharing: sharingOf(join(root, path)) })),
  ]),
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
    include: packages.flatMap((name) => TESTS.map((files) => `packages/${name}/${files}`)),
    exclude: [...leavingTraces, ...[...sharing.values()].flat()],
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

import { env } from 'node:process';

/** Where the runs of a suite are: in the test's state file without `Runs`, or through them. */
export type Where = 'plain' | 'file' | 'memory' | 'postgres';

const NAMED: readonly string[] = ['file', 'memory', 'postgres'];

/** `DEVS_TEST_RUNS` runs the suites once more: through `FileRuns`, `MemoryRuns` or `PostgresRuns`. */
export const WHERE: Where = whereOf(env['DEVS_TEST_RUNS']);

/** Whether each run has a file of its own. */
export const HAS_FILES = WHERE === 'memory' || WHERE === 'postgres';

function whereOf(name: string | undefined): Where {
  if (name === undefined || name === '') return 'plain';
  if (NAMED.includes(name)) return name as Where;
  throw new RangeError(`DEVS_TEST_RUNS: expected ${NAMED.join(', ')}, got ${name}`);
}

/** What keeps a test from being about runs that are anywhere. */
export type OneFileReason =
  /** It writes rows into the state file itself, or a lease. */
  | 'plants rows'
  /** Another process has the same file open, writes there, or holds the run there. */
  | 'shares the file'
  /** It counts or times what its connection does, or copies the file meanwhile. */
  | 'watches the connection'
  /** Its process dies at each write of the file; `pnpm chaos --cluster` kills workers of runs that have a file each. */
  | 'dies at a write';

/** What keeps a test from going through `Runs`, also over one file. */
export type NotThroughReason =
  /** A method that needs one state file. */
  | 'asks another method'
  /** The compiled graph's own methods go to its file. */
  | 'calls the graph'
  /** It replaces a method of the app's own store. */
  | 'watches its own store';

/** Options of a test that is about one open state file: it does not go where each run has a file. */
export const ofOneFile = (_reason: OneFileReason) => ({ skip: HAS_FILES });

/** Options of a test that is about one state file alone. */
export const notThroughRuns = (_reason: NotThroughReason) => ({ skip: WHERE !== 'plain' });

/** What keeps a test from being about runs that are reached through `FileRuns`. */
export type NotFileRunsReason =
  /** Its run comes with checkpoints. */
  'imports a thread';

/** Options of a test that goes everywhere but through `FileRuns`. */
export const notFileRuns = (_reason: NotFileRunsReason) => ({ skip: WHERE === 'file' });

import { afterAll, expect } from 'vitest';
import { secretRegistry } from '../../src/masking/SecretRegistry.ts';

/** Events whose listeners change what becomes of the process. A listener of its end is none of them. */
const FATEFUL = /^(?:SIG[A-Z0-9]+|uncaughtException|unhandledRejection|warning|beforeExit)$/;

/** What all test files of a process share, and a file that follows in it would stumble over. */
const shared = (): Record<string, unknown> => ({
  'process.env': { ...process.env },
  'process.cwd()': process.cwd(),
  'process.umask()': process.umask(),
  'process.exitCode': process.exitCode,
  'Error.stackTraceLimit': Error.stackTraceLimit,
  'listeners of the process': Object.fromEntries(
    process
      .eventNames()
      .map(String)
      .filter((event) => FATEFUL.test(event))
      .map((event) => [event, process.listenerCount(event)]),
  ),
  'known secrets': secretRegistry.rules().map(({ name, pattern }) => `${name} ${pattern}`),
  'broad masks': secretRegistry.masksBroadly,
  functions: [Date, Date.now, setTimeout, setInterval, setImmediate, queueMicrotask, fetch, Math.random],
  'functions of the process': [process.emitWarning, process.kill, process.exit, process.on, process.cwd],
});

/** Every process that a test starts costs its parent by the memory it holds, garbage too, bytes. Those of core start few. */
const TIDY_BYTES = { core: 384 * 2 ** 20, others: 96 * 2 ** 20 };

const tidyAbove = (): number =>
  /\bpackages[/\\]core\b/.test(expect.getState().testPath ?? '') ? TIDY_BYTES.core : TIDY_BYTES.others;

/** A copy would be an environment that neither a child process nor the system sees. */
const { env } = process;

/**
 * Called first by each file of a process, so that it looks after everything that the file itself cleans up.
 *
 * @param lasting - What a file may leave changed, by its names in what is shared.
 */
export function guardProcess(lasting: readonly string[] = []): void {
  const guarded = (): Record<string, unknown> =>
    Object.fromEntries(Object.entries(shared()).filter(([name]) => !lasting.includes(name)));
  const before = guarded();
  afterAll(() => {
    expect(guarded(), 'The test file left something behind in the process that other files share').toEqual(
      before,
    );
    expect(process.env === env, 'The test file replaced the environment of the process').toBe(true);
    if (process.memoryUsage().heapUsed > tidyAbove()) globalThis.gc?.();
  });
}

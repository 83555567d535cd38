import { format } from 'node:util';
import { afterAll, afterEach } from 'vitest';

/** What the code under test printed by itself. A test that provokes such a line replaces the method and asserts it. */
const printed: string[] = [];

for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
  console[method] = (...args: readonly unknown[]) => {
    printed.push(`console.${method}: ${format(...args)}`);
  };
}

for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: string | Uint8Array, ...rest: readonly unknown[]) => {
    if (text.length > 0) printed.push(`${name}: ${Buffer.from(text).toString()}`);
    const done = rest.at(-1);
    if (typeof done === 'function') setImmediate(() => void done());
    return true;
  };
}

function assertQuiet(): void {
  const lines = printed.splice(0);
  if (lines.length > 0) throw new Error(`The test printed:\n${lines.join('\n')}`);
}

afterEach(assertQuiet);
afterAll(assertQuiet);

// Thrown outside of any test, so that Vitest fails the run however the test ends.
process.on('warning', (warning) => {
  throw warning;
});

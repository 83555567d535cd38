import { format } from 'node:util';
import { afterAll, afterEach } from 'vitest';

/** What the code under test printed by itself. A test that provokes such a line replaces the method and asserts it. */
const printed: string[] = [];

for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
  console[method] = (...args: readonly unknown[]) => {
    printed.push(`console.${method}: ${format(...args)}`);
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

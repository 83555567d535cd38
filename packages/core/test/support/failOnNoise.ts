import { afterAll, afterEach } from 'vitest';
import { takePrinted } from './printed.ts';

/** What the code under test printed by itself. A test that provokes such a line replaces the method and asserts it. */
function assertQuiet(): void {
  const lines = takePrinted();
  if (lines.length > 0) throw new Error(`The test printed:\n${lines.join('\n')}`);
}

afterEach(assertQuiet);
afterAll(assertQuiet);

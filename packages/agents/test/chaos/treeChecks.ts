import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Checks } from '@devs/core';

/** How long a check takes, ms: long enough for a kill to fall inside. */
const CHECK_MS = 10;

/**
 * Checks that judge by the files alone, so that they give the same verdict in every process: red while a
 * `test/N.txt` has no `implement/N.txt`.
 */
export const treeChecks: Checks = {
  async run({ dir }) {
    await sleep(CHECK_MS);
    const missing = namesIn(join(dir, 'test')).filter((name) => !existsSync(join(dir, 'implement', name)));
    const passed = missing.length === 0;
    return {
      passed,
      exitCode: passed ? 0 : 1,
      timedOut: false,
      output: passed ? 'ok' : `not implemented: ${missing.join(', ')}`,
      command: 'tree',
    };
  },
};

function namesIn(dir: string): readonly string[] {
  return existsSync(dir) ? readdirSync(dir).sort() : [];
}

/**
 * A module that runs the tests below its folder in its own process: `node --test` starts one more for each file.
 * Its text, because what is bundled has no file beside it.
 */
export const RUN_NODE_TESTS = `import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';

const files = readdirSync('.', { recursive: true }).filter((path) => /^(?!node_modules).*\\.test\\.m?js$/.test(path));
for (const file of files.sort()) {
  // As there: a file that does not load is a red test of its name.
  await import(resolve(file)).catch((error) =>
    test(resolve(file), () => {
      throw error;
    }),
  );
}
`;

/** What `node --test` says of a folder, in one process. A file that is red by itself needs one of its own. */
export const NODE_TESTS: readonly string[] = [process.execPath, '--input-type=module', '-e', RUN_NODE_TESTS];

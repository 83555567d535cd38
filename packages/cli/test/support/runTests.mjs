// Runs the tests below a folder in this process: `node --test` starts one more for each file.
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { argv } from 'node:process';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const TEST = /\.test\.m?js$/;

function* testsIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* testsIn(path);
    else if (TEST.test(entry.name)) yield path;
  }
}

for (const path of testsIn(argv[2] ?? '.')) {
  // As there: a file that does not load is a red test of its name.
  await import(pathToFileURL(resolve(path))).catch((error) =>
    test(resolve(path), () => {
      throw error;
    }),
  );
}

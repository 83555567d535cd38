const RUN = `
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
const tests = readdirSync('.', { recursive: true }).filter((path) => /^(?!node_modules).*\\.test\\.m?js$/.test(path));
for (const path of tests.sort()) await import(resolve(path));
`;

/** What `node --test` says of a folder, in one process: that takes a process of its own for each file, and one for itself. */
export const NODE_TESTS: readonly string[] = [process.execPath, '--input-type=module', '-e', RUN];

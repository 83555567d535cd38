// Runs the tests of a small repository in this process: `node --test` starts one more for each file.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const name of readdirSync('test').toSorted()) await import(pathToFileURL(resolve('test', name)));

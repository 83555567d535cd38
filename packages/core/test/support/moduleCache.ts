import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, pid } from 'node:process';

/**
 * Where the transformed sources of one run of the tests are: each project transforms with a server of its own, and finds here
 * what another one has transformed. Removed at the end, so nothing of an earlier run is used.
 */
export const MODULE_CACHE = join(tmpdir(), `devs-modules-${pid}`);

/** Coverage is mapped by what the servers themselves have transformed. */
export const keepsModules = !argv.some((argument) => argument.startsWith('--coverage'));

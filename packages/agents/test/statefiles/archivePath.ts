import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Release } from './releases.ts';

export const ARCHIVES = fileURLToPath(new URL('archives', import.meta.url));

const SUFFIX = '.br';

/** Where the state file of a kind is kept, as a release left it. */
export const archivePath = (release: Release, kind: string): string =>
  join(ARCHIVES, release, `${kind}${SUFFIX}`);

import type { Repository } from './Repository.ts';
import { GENERATED } from './repositories/generated.ts';
import { pLimit } from './repositories/pLimit.ts';
import { TARBALLS } from './repositories/tarballs.ts';

/** All ten. */
export const REPOSITORIES: readonly Repository[] = [...TARBALLS, pLimit, ...GENERATED];

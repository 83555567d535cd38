import { userInfo } from 'node:os';
import type { Principal } from '@devs/core';
import { usageError } from '../usageError.ts';

/** Who signs: the name given with `--by`, else the user's. */
export function humanFrom(by: string | undefined): Principal {
  if (by?.trim() === '') throw usageError('--by names nobody.', 'Say who decides, or leave it out.');
  return { kind: 'human', id: by ?? userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    // A container may run under a user id that has no name.
    throw usageError('Your user has no name on this machine.', 'Say who decides with --by NAME.', error);
  }
}

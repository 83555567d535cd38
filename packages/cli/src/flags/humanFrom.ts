import { userInfo } from 'node:os';
import type { Principal } from '@devs/core';
import { usageError } from '../usageError.ts';

/** Who signs: the name given with `--by`, else the user's. */
export function humanFrom(by: string | undefined): Principal {
  if (by?.trim() === '') throw usageError('--by is empty.', 'Add your name, or remove --by.');
  return { kind: 'human', id: by ?? userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    // A container may run under a user id that has no name.
    throw usageError('Your user has no name on this machine.', 'Add your name with --by NAME.', error);
  }
}

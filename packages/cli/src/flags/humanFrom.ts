import { userInfo } from 'node:os';
import type { Principal } from '@devs/core';
import { usageError } from '../usageError.ts';

/** Who signs: the name given with `--by`, else the user's. */
export function humanFrom(by: string | undefined): Principal {
  if (by?.trim() === '') throw usageError('--by is empty.', 'Add your name, or remove --by.');
  return { kind: 'human', id: by ?? userName() };
}

/** As {@link humanFrom}; `null` for a user without a name. */
export const humanIfNamed = (by: string | undefined): Principal | null =>
  by === undefined && isNameless() ? null : humanFrom(by);

function isNameless(): boolean {
  try {
    return userInfo().username === '';
  } catch {
    return true;
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    // A container may run under a user id that has no name.
    throw usageError('Your user has no name on this machine.', 'Add your name with --by NAME.', error);
  }
}

import { DevsError, isDevsError } from '@devs/core';
import { isStarting } from './isAway.ts';

/** What PostgreSQL says when it is as it should not be: by its codes. */
const FAULTS: readonly (readonly [codes: RegExp, what: string, remedy: string])[] = [
  [
    /^28/,
    'PostgreSQL refuses this user',
    'Correct user and password in the URL, or pg_hba.conf of the server.',
  ],
  [/^3D000$/, 'the database does not exist', 'Correct its name in the URL, or create it.'],
  [
    /^42501$/,
    'a right is missing',
    'Give the role its rights: `rightsSql` prints them, and the owner of the tables runs them.',
  ],
  [
    /^(?:3F000|42P01|42703|42883)$/,
    'the tables are missing, or of another release',
    'Have them made by a role that may, or leave `migrate` on.',
  ],
];

/** What `pg` throws, as a fault of the engine; others are left as they are. */
export function pgFault(error: unknown): unknown {
  if (isDevsError(error)) return error;
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  const known = FAULTS.find(([codes]) => codes.test(code));
  const [, what, remedy] = known ?? [code, `it says ${code}`, 'Look into the log of the server.'];
  return new DevsError(`PostgreSQL cannot be used: ${what}. ${String(message)}`, {
    code: known === undefined ? 'STATE_IO' : 'CONFIG_INVALID',
    remedy,
    context: { postgres: code },
    cause: error,
  });
}

/** For the first connection: nobody knows yet that there is a server at all. */
export function notReached(error: unknown, where: string): DevsError {
  const [what, remedy] = isStarting(error)
    ? [
        `PostgreSQL at ${where} takes no connections yet: ${(error as Error).message}.`,
        'Try again when it has started; its log says what it is at.',
      ]
    : [
        `PostgreSQL cannot be reached at ${where}.`,
        'Check host and port in the URL, and that the server runs and takes connections.',
      ];
  return new DevsError(what, {
    code: 'STATE_IO',
    remedy,
    context: { server: where },
    cause: error,
  });
}

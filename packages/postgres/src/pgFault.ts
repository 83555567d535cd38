import { DevsError, isDevsError } from '@devs/core';
import { isStarting } from './isAway.ts';

/** What PostgreSQL says when it is as it should not be: by its codes. */
const FAULTS: readonly (readonly [codes: RegExp, what: string, remedy: string])[] = [
  [
    /^28/,
    'PostgreSQL rejects this user',
    'Correct the user and password in the URL, or pg_hba.conf on the server.',
  ],
  [/^3D000$/, 'the database does not exist', 'Correct its name in the URL, or create the database.'],
  [/^42501$/, 'a privilege is missing', 'Have the owner of the tables run the SQL that `rightsSql` returns.'],
  [
    /^(?:3F000|42P01|42703|42883)$/,
    'the tables are missing, or belong to another release',
    'Create them with a role that is allowed to, or keep `migrate` on.',
  ],
];

/** What `pg` throws, as a fault of the engine; others are left as they are. */
export function pgFault(error: unknown): unknown {
  if (isDevsError(error)) return error;
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  const known = FAULTS.find(([codes]) => codes.test(code));
  const [, what, remedy] = known ?? [code, `error ${code}`, 'Check the log of the server.'];
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
        `PostgreSQL at ${where} does not accept connections yet: ${(error as Error).message}.`,
        'Try again when it has started, or check its log.',
      ]
    : [
        `PostgreSQL cannot be reached at ${where}.`,
        'Check host and port in the URL, and that the server runs and accepts connections.',
      ];
  return new DevsError(what, {
    code: 'STATE_IO',
    remedy,
    context: { server: where },
    cause: error,
  });
}

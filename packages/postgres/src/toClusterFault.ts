import { DevsError, type DevsErrorOptions } from '@devs/core';
import { isAway } from './isAway.ts';

type Fault = Pick<DevsErrorOptions, 'code' | 'remedy'> & { readonly message: string };

/** By the code of PostgreSQL, or the beginning of one. */
const FAULTS: readonly (readonly [code: RegExp, fault: Fault])[] = [
  [
    /^28/,
    {
      code: 'CONFIG_INVALID',
      message: 'PostgreSQL refuses who connects.',
      remedy: 'Check user and password; the password can be in PGPASSWORD or ~/.pgpass.',
    },
  ],
  [
    /^3D000/,
    {
      code: 'CONFIG_INVALID',
      message: 'There is no such database.',
      remedy: 'Create it, or name another one in the address.',
    },
  ],
  [
    /^42501/,
    {
      code: 'CONFIG_INVALID',
      message: 'The role may not do that.',
      remedy: 'Run devs migrate as the owner of the schema, and grant the role what docs/cluster.md lists.',
    },
  ],
  [
    /^(?:3F000|42P01|42703)/,
    {
      code: 'CONFIG_INVALID',
      message: 'The schema of the cluster is not there, or of an older release.',
      remedy: 'Run devs migrate, or name the schema with --schema.',
    },
  ],
];

/** What is wrong with the cluster as an error with a remedy; a {@link DevsError}, or a mistake of the caller, as it is. */
export function toClusterFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DevsError) return error;
  if (isAway(error)) {
    return new DevsError(`PostgreSQL cannot be reached: ${error.message}`, {
      code: 'STATE_IO',
      remedy: 'Check that it runs and that the address is right, then do the same again.',
      cause: error,
    });
  }
  const { code } = error as { readonly code?: unknown };
  const [, fault] = FAULTS.find(([pattern]) => pattern.test(String(code))) ?? [];
  if (fault === undefined) return error;
  const { message, ...options } = fault;
  return new DevsError(`${message} (${error.message})`, { ...options, cause: error });
}

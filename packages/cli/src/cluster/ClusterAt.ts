import { usageError } from '../usageError.ts';

/** The variable that names a cluster for every command. */
export const DATABASE_URL = 'DEVS_DATABASE_URL';
const USUAL_SCHEMA = 'devs';

/** Where the runs of a cluster are. */
export interface ClusterAt {
  /** As it was given, with its password where it has one: only for who connects. */
  readonly url: string;
  readonly schema: string;
  /** The same address without a password: for people and for what is to be copied. */
  readonly shown: string;
  /** The options that name it on a command line; none where the environment does. */
  readonly words: readonly string[];
}

interface Named {
  readonly db?: string;
  readonly schema?: string;
}

/**
 * The cluster that a command line names, else that of the environment.
 *
 * @returns `null` where neither does, or both are empty: the runs are in the state file of a folder.
 * @throws DevsError `CONFIG_INVALID` for what is no address of PostgreSQL, or no name of a schema.
 */
export function clusterAt(
  { db, schema }: Named,
  env: Readonly<Record<string, string | undefined>>,
): ClusterAt | null {
  const url = (db ?? env[DATABASE_URL] ?? '').trim();
  if (url === '') return null;
  const shown = withoutPassword(url, db === undefined ? DATABASE_URL : '--db');
  const words = [
    ...(db === undefined ? [] : ['--db', shown]),
    ...(schema === undefined ? [] : ['--schema', schema]),
  ];
  return { url, schema: schemaNamed(schema), shown, words };
}

/** The same text for whoever goes there, as whom and how ever. */
export function clusterKey({ shown, schema }: Pick<ClusterAt, 'shown' | 'schema'>): string {
  const { host, pathname, searchParams } = new URL(shown);
  return `${host === '' ? (searchParams.get('host') ?? '') : host}${pathname} ${schema}`;
}

/** @throws DevsError `CONFIG_INVALID` for what is no name of a schema. */
export function schemaNamed(schema: string = USUAL_SCHEMA): string {
  // Others would be possible: these need no quotes in anybody's SQL, and leave room for what is appended to them.
  if (/^[a-z_][a-z0-9_]{0,45}$/.test(schema)) return schema;
  throw usageError(
    `${JSON.stringify(schema)} is not a valid schema name.`,
    'Use a-z, 0-9 and _, such as --schema devs.',
  );
}

/** What is wrong is not repeated: it may be a password. */
function withoutPassword(text: string, source: string): string {
  const url = /^postgres(?:ql)?:\/\//.test(text) ? parseUrl(text) : null;
  if (url === null) {
    throw usageError(
      `${source} is not a PostgreSQL address.`,
      'Use the form postgres://user@host:5432/database. The password can be in PGPASSWORD or ~/.pgpass.',
    );
  }
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

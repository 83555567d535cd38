import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { DevsError } from '@devs/core';

/** Characters of a URL; longer ones are a mistake. */
const MAX_URL = 4096;

/** PostgreSQL cuts longer names, bytes; the jobs have the schema with `_boss` behind it. */
const [MAX_NAME, MAX_SCHEMA] = [63, 58];

/** Characters. It is part of keys and of lists. */
const MAX_TENANT = 200;

/** Those that `pg` knows: of another word it would make a connection that checks nothing. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;

/** Files that `pg` reads. */
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;

/** @throws DevsError `CONFIG_INVALID` for what can be no schema of PostgreSQL, or none that the jobs can have. */
export function requireSchema(schema: unknown): string {
  const isName = typeof schema === 'string' && /^[^"'%$.\\\p{Cc}\p{Cf}]+$/u.test(schema);
  if (isName && Buffer.byteLength(schema) <= MAX_SCHEMA && !/^pg_/i.test(schema)) return schema;
  throw invalidUrl(
    'schema: invalid name',
    `Use letters, digits and _, such as devs; at most ${MAX_SCHEMA} bytes, and not starting with pg_.`,
  );
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds. @throws RangeError for a time below a second or above a hundred years. */
export function requireRetention({ ended }: { readonly ended: string }): number {
  const [, number = '', unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(String(ended)) ?? [];
  const ms = Number(number) * (UNITS_MS[unit] ?? Number.NaN);
  if (ms >= 1000 && ms <= 36_525 * 86_400_000) return ms;
  throw new RangeError(
    `retention.ended: expected a time such as '30d', '12h' or '90s', got ${String(ended)}`,
  );
}

/** @throws DevsError `CONFIG_INVALID` */
export function requireTenant(tenant: unknown): string {
  const isName = typeof tenant === 'string' && /^(?!\s)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+(?<!\s)$/u.test(tenant);
  if (isName && tenant.length <= MAX_TENANT) return tenant;
  throw invalidUrl(
    'tenant: invalid name',
    `Use 1 to ${MAX_TENANT} visible characters, without spaces at the start or end.`,
  );
}

/**
 * Host and database of a URL, without user and password. What is wrong is not repeated: it may be a password.
 *
 * @throws DevsError `CONFIG_INVALID` for a URL that is none, or by which `pg` would go somewhere else than it says.
 */
export function serverOf(url: unknown): string {
  const isText = typeof url === 'string' && url.length <= MAX_URL && /^postgres(?:ql)?:\/\//.test(url);
  const parsed = isText && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null) throw noUrl();
  const database = decodeUrlPart(parsed.pathname.slice(1));
  const parts = [
    database,
    decodeUrlPart(parsed.username),
    decodeUrlPart(parsed.password),
    ...parsed.searchParams.values(),
  ];
  if (parts.some((part) => part === null || /\p{Cc}/u.test(part))) throw noUrl();
  if (Buffer.byteLength(database ?? '') > MAX_NAME)
    throw invalidUrl(
      'url: the name of the database is too long',
      `PostgreSQL allows at most ${MAX_NAME} bytes.`,
    );
  const host = urlHost(parsed);
  assertSsl(parsed.searchParams);
  return `${host}${parsed.pathname}`;
}

/** `host` and `port` of the query are stronger than those before it: whoever reads the URL would take it for another server. */
function urlHost({ host, searchParams }: URL): string {
  const [socket, ...more] = searchParams.getAll('host');
  if (socket === undefined && !searchParams.has('port')) return host;
  const isFolder = socket !== undefined && more.length === 0 && isAbsolute(socket);
  if (host === '' && isFolder && /^\d{0,5}$/.test(searchParams.get('port') ?? '')) return socket;
  throw invalidUrl(
    'url: `host` and `port` after the question mark are not supported',
    'Put the server before the question mark, postgres://host:5432/database. For a socket folder use postgres:///database?host=/run/postgresql.',
  );
}

function assertSsl(params: URLSearchParams): void {
  const modes = params.getAll('sslmode');
  if (modes.length > 1 || modes.some((mode) => !(SSL_MODES as readonly string[]).includes(mode)))
    throw invalidUrl('url: unknown `sslmode`', `Use one of ${SSL_MODES.join(', ')}.`);
  const lost = SSL_FILES.find((name) => params.getAll(name).some((file) => !existsSync(file)));
  if (lost !== undefined)
    throw invalidUrl(`url: the file of \`${lost}\` does not exist`, 'Correct its path.');
}

/** `null` for what is no text. */
function decodeUrlPart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const noUrl = (): DevsError =>
  invalidUrl(
    'The PostgreSQL URL is invalid',
    'Use the form postgres://user:password@host:5432/database, with special characters encoded (%40 for @).',
  );

const invalidUrl = (what: string, remedy: string): DevsError =>
  new DevsError(`${what}.`, { code: 'CONFIG_INVALID', remedy });

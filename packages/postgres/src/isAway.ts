/** Classes and codes of PostgreSQL that say: later. Connections, resources, an operator's intervention, a deadlock, a client that stood still. */
const LATER = /^(?:08(?!P01)|25P03|53|57P|40001|40P01)/; // 08P01 is a mistake in what was asked
/** Of Node.js. */
const SOCKET: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Of a socket that is a file.
  'ENOENT',
  'EACCES',
]);
/** `pg` has no codes for a connection that ends under a query, or that is not made in time. */
const ENDED =
  /Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error/;

/** Whether an error says that PostgreSQL cannot be reached now: what was asked may have happened or not. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string' && (SOCKET.has(code) || LATER.test(code))) return true;
  // A host with several addresses has an error for each.
  if (error instanceof AggregateError) return error.errors.some(isAway);
  return ENDED.test(error.message);
}

/** Whether an error says that a server is there, and takes no connections yet: it starts, recovers or ends. */
export const isStarting = (error: unknown): boolean =>
  error instanceof Error && (error as { readonly code?: unknown }).code === '57P03';

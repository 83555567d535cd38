import { ApiError } from './ApiError.ts';

/** Where requests may come from. */
export interface Reach {
  /** `Host` values under which the server is reached. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of pages that may send requests from a browser. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Refuses a request under a foreign name: somebody made the name lead here. Refuses a request of a page that is not among
 * `origins`.
 *
 * @throws ApiError
 */
export function assertReach(request: Request, { hosts, origins }: Reach): void {
  const { url, headers } = request;
  const named = [new URL(url).host, headers.get('host')].filter((host) => host !== null);
  if (!named.every((host) => hosts.has(host)))
    throw new ApiError(403, 'HOST_REFUSED', 'The API is not served under this host name.');
  const origin = headers.get('origin');
  if (origin !== null && !isOwnOrigin(origin, hosts) && !origins.has(origin))
    throw new ApiError(403, 'ORIGIN_REFUSED', 'Pages of this origin may not use the API.');
  // A browser sends this header also without an origin.
  if (origin === null && headers.get('sec-fetch-site') === 'cross-site')
    throw new ApiError(403, 'ORIGIN_REFUSED', 'Pages of other sites may not use the API.');
}

/** A page that this server's own address serves. */
function isOwnOrigin(origin: string, hosts: ReadonlySet<string>): boolean {
  return [...hosts].some((host) => origin === `http://${host}` || origin === `https://${host}`);
}

const EXPOSED = 'Content-Location, Location, X-Pagination-Total, X-Pagination-Next';
const MOST_AGE_S = '600';

/** Answers the question of a browser before a page sends a request. */
export function preflight(request: Request): Response {
  const headers = {
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': request.headers.get('access-control-request-headers') ?? '',
    'access-control-max-age': MOST_AGE_S,
  };
  return new Response(null, { status: 204, headers });
}

/** Lets the page of a named origin read the answer, with its cookies. */
export function allowOrigin(request: Request, response: Response): Response {
  const origin = request.headers.get('origin');
  response.headers.append('vary', 'Origin');
  response.headers.set('x-content-type-options', 'nosniff');
  if (origin === null) return response;
  response.headers.set('access-control-allow-origin', origin);
  response.headers.set('access-control-allow-credentials', 'true');
  response.headers.set('access-control-expose-headers', EXPOSED);
  return response;
}

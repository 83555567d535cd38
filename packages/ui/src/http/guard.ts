/** Why a request is not even looked at. */
export interface RequestRefusal {
  readonly status: 403 | 415;
  readonly code: 'HOST_REFUSED' | 'ORIGIN_REFUSED' | 'SITE_REFUSED' | 'FORM_REFUSED';
  readonly message: string;
}

/** From where our own page asks, and a person who typed the address. */
const OWN_SITES: ReadonlySet<string | null> = new Set(['same-origin', 'none']);

/**
 * Refuses what no page of ours has sent, by the request alone: a page of another site that names us, or one whose name was
 * made to lead here (it sends no `Origin`, but its own `Host`). `null` for what may go on.
 *
 * @param hosts - `Host` values under which the page is reached, such as `localhost:7430`.
 */
export function requestRefusal(request: Request, hosts: ReadonlySet<string>): RequestRefusal | null {
  return (
    foreignHost(request, hosts) ?? foreignOrigin(request, hosts) ?? foreignSite(request) ?? form(request)
  );
}

function foreignHost({ url, headers }: Request, hosts: ReadonlySet<string>): RequestRefusal | null {
  const named = [new URL(url).host, headers.get('host')].filter((host) => host !== null);
  if (named.every((host) => hosts.has(host))) return null;
  return { status: 403, code: 'HOST_REFUSED', message: 'This page is not served under this host name.' };
}

function foreignOrigin({ method, url, headers }: Request, hosts: ReadonlySet<string>): RequestRefusal | null {
  const origin = headers.get('origin');
  if (origin === null && isReading(method)) return null;
  const { protocol } = new URL(url);
  if ([...hosts].some((host) => origin === `${protocol}//${host}`)) return null;
  return { status: 403, code: 'ORIGIN_REFUSED', message: 'Only the page itself can send this request.' };
}

/** Every browser says it of a page on this machine or over https; a reading page typed by hand says `none`. */
function foreignSite({ method, headers }: Request): RequestRefusal | null {
  const site = headers.get('sec-fetch-site');
  if (isReading(method) ? OWN_SITES.has(site) : site === 'same-origin') return null;
  return { status: 403, code: 'SITE_REFUSED', message: 'Only the page itself can send this request.' };
}

/** A form of another site cannot send JSON without asking first. */
function form({ method, headers }: Request): RequestRefusal | null {
  if (isReading(method)) return null;
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') return null;
  return { status: 415, code: 'FORM_REFUSED', message: 'A change must be sent as JSON.' };
}

const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

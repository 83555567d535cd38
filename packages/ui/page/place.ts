/** What of the page is looked at; its address is in the fragment, so that it can be kept and gone back to. */
export type PageRoute =
  | { readonly kind: 'inbox' }
  /** A page of all gates that wait, or of all runs, after one that was seen. */
  | { readonly kind: 'waiting'; readonly after: string }
  | { readonly kind: 'runs'; readonly after: string }
  | { readonly kind: 'run'; readonly run: string }
  | { readonly kind: 'gate'; readonly run: string; readonly gate: string };

export const inboxHref = '#/';
export const waitingHref = (after: string): string => `#/waiting/${encodeURIComponent(after)}`;
export const olderRunsHref = (after: string): string => `#/older/${encodeURIComponent(after)}`;
export const runHref = (run: string): string => `#/runs/${encodeURIComponent(run)}`;
export const gateHref = (run: string, gate: string): string =>
  `${runHref(run)}/gates/${encodeURIComponent(gate)}`;

/** The inbox for an address that is none. */
export function parseRoute(hash: string): PageRoute {
  const [, list, after] = /^#\/(waiting|older)\/([^/]+)$/.exec(hash) ?? [];
  if (after !== undefined) {
    const place = { after: decodePart(after) };
    return list === 'waiting' ? { kind: 'waiting', ...place } : { kind: 'runs', ...place };
  }
  const parts = /^#\/runs\/([^/]+)(?:\/gates\/([^/]+))?$/.exec(hash);
  const [run, gate] = (parts ?? [])
    .slice(1)
    .map((part) => (part === undefined ? undefined : decodePart(part)));
  if (run === undefined) return { kind: 'inbox' };
  return gate === undefined ? { kind: 'run', run } : { kind: 'gate', run, gate };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

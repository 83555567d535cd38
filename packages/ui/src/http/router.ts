/** `/api/runs/:run`: a part that begins with a colon is a parameter. */
export type Pattern = `/${string}`;

export interface Routed {
  readonly method: 'GET' | 'POST';
  readonly path: Pattern;
}

/** What a path leads to. */
export type RouteMatch<Route> =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'other-method' }
  | { readonly kind: 'nothing' };

/** The route of a method and a path; pure, the first that fits. */
export function findRoute<Route extends Routed>(
  routes: readonly Route[],
  method: string,
  path: string,
): RouteMatch<Route> {
  let isKnown = false;
  for (const route of routes) {
    const params = paramsOf(route.path, path);
    if (params === null) continue;
    if (route.method === method) return { kind: 'route', route, params };
    isKnown = true;
  }
  return isKnown ? { kind: 'other-method' } : { kind: 'nothing' };
}

function paramsOf(pattern: Pattern, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== text) return null;
      continue;
    }
    const value = decodeSegment(text);
    if (value === null || value === '') return null;
    params[part.slice(1)] = value;
  }
  return params;
}

function decodeSegment(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Of this tab alone; no other page can read it, and no browser sends it by itself. */
const SECRET = 'devs-session';

/** The secret of this tab; `null` before anybody has signed in here. */
export const secret = (): string | null => sessionStorage.getItem(SECRET);

/**
 * The code in the fragment, which is taken out of the address at once: it is no part of any history. What follows it is where
 * the link leads.
 */
export function takeCode(): string | null {
  const [, code = null, at = ''] = /^#code=([\w-]+)(?:&at=(\/.*))?$/.exec(location.hash) ?? [];
  if (code !== null) history.replaceState(null, '', location.pathname + (at && `#${at}`));
  return code;
}

export const keepSecret = (given: string): void => sessionStorage.setItem(SECRET, given);

import { randomBytes } from 'node:crypto';
import { createUi } from '@devs/ui';
import { Hono } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { isPerson } from './people.ts';

export interface InboxOptions {
  /** The folder of the state file, and its name there. */
  readonly dir: string;
  readonly file: string;
  /** Names and passwords. */
  readonly people: string;
  /** `Host` values under which browsers come, such as `inbox.example.org`. */
  readonly hosts: readonly string[];
}

const COOKIE = 'inbox-session';

const LOGIN = `<!doctype html><html lang="en"><title>Sign in</title>
<form method="post"><label>Name <input name="name" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form></html>`;

/** The page at `/inbox/`, for who has signed in at `/login`. */
export function inbox({ dir, file, people, hosts }: InboxOptions): Hono {
  /** Who has which session. Of this process alone: whoever starts it anew has everybody sign in again. */
  const sessions = new Map<string, string>();
  const nameOf = (cookie: string | undefined): string | null => sessions.get(cookie ?? '') ?? null;

  const app = new Hono();
  const ui = createUi({
    dir,
    file,
    hosts,
    base: '/inbox',
    identify: (request) => {
      const cookie = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(request.headers.get('cookie') ?? '')?.[1];
      const name = nameOf(cookie);
      return name === null ? null : { kind: 'human', id: name };
    },
  });

  app.get('/login', (c) => c.html(LOGIN));
  app.post('/login', async (c) => {
    const { name, password } = await c.req.parseBody();
    if (typeof name !== 'string' || typeof password !== 'string' || !isPerson(people, name, password))
      return c.html(LOGIN, 401);
    const session = randomBytes(32).toString('base64url');
    sessions.set(session, name);
    // Browsers take `Secure` from localhost, too.
    setCookie(c, COOKIE, session, { httpOnly: true, secure: true, sameSite: 'Strict', path: '/' });
    return c.redirect('/inbox/');
  });
  app.post('/logout', (c) => {
    sessions.delete(getCookie(c, COOKIE) ?? '');
    deleteCookie(c, COOKIE, { path: '/' });
    return c.redirect('/login');
  });
  app.get('/', (c) => c.redirect('/inbox/'));
  app.get('/inbox/', async (c) =>
    nameOf(getCookie(c, COOKIE)) === null ? c.redirect('/login') : ui(c.req.raw),
  );
  app.all('/inbox/*', (c) => ui(c.req.raw));
  return app;
}

// The API of agents and the page, on one port of this machine.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Principal } from '@devs/core';
import type { ServerHandler } from '@devs/server';
import type { UiHandler } from '@devs/ui';
import type { Session } from '../project/Session.ts';
import { usageError } from '../usageError.ts';
import { printLink, startListening } from './listening.ts';
import type { Served } from './Served.ts';

/** That of LangGraph's development server, which stock clients ask by default. */
export const USUAL_PORT = 2024;

const PAGE = '/ui';

export interface ServeOptions {
  readonly port: number | null;
  readonly human: Principal;
  /** Web pages of other addresses that may call the API. */
  readonly origins: readonly string[];
  /** Each request of the API must have it; `undefined` for an open API. */
  readonly key: string | undefined;
  /** Called with each new link to the page. */
  readonly onLink: (url: string) => void;
}

interface Serving {
  readonly url: string;
  /** New requests are refused from now on; streams that are open go on. */
  drain(): void;
  close(): Promise<void>;
}

/** @throws DevsError `CONFIG_INVALID` for a port that cannot be used. */
export async function serveApps(
  served: Served,
  { port, origins, key, ...page }: ServeOptions,
  session: Session,
): Promise<Serving> {
  const ui = await import('@devs/ui');
  const { createServer } = await import('@devs/server');
  const identify = identifyBy(key, page.human);
  let isDraining = false;
  const apis: ServerHandler[] = [];
  const handler = (hosts: readonly string[]): ((request: Request) => Promise<Response>) => {
    const api = made(() =>
      createServer({ apps: served.apps, identify, authorize: () => true, hosts, origins }),
    );
    apis.push(api);
    const toPage = pageHandler(served, { ...page, hosts, ui }, session);
    return async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === PAGE) return new Response(null, { status: 308, headers: { location: `${PAGE}/` } });
      if (toPage !== null && pathname.startsWith(`${PAGE}/`)) return toPage(request);
      return isDraining ? unavailable() : api(request);
    };
  };
  const listening = await startListening({ wanted: port, usual: USUAL_PORT }, (at) =>
    ui.serveOnLoopback({ port: at, handler }),
  );
  return {
    url: `http://localhost:${listening.port}`,
    drain: () => {
      isDraining = true;
    },
    close: async () => {
      await Promise.all(apis.map((api) => api.close()));
      await listening.close();
    },
  };
}

/** @throws DevsError `CONFIG_INVALID` for apps that cannot be served together. */
function made(make: () => ServerHandler): ServerHandler {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw usageError(error.message, 'Change the module that exports them.', error);
  }
}

interface PageOptions extends Pick<ServeOptions, 'human' | 'onLink'> {
  readonly hosts: readonly string[];
  readonly ui: typeof import('@devs/ui');
}

function pageHandler(
  { place }: Served,
  { human, hosts, onLink, ui: { createUi, OneTimeCodes } }: PageOptions,
  session: Session,
): UiHandler | null {
  if (place === null) return null;
  // A program that starts this command reads the link, too, and must not decide with it.
  const readOnly = session.out.json || session.io.stdout.isTTY !== true;
  const onCode = (code: string): void => {
    const url = `http://${hosts[0]}${PAGE}/#code=${code}`;
    printLink({ url, readOnly }, session);
    onLink(url);
  };
  const { identify, signIn } = new OneTimeCodes({ by: human, onCode });
  return createUi({ ...place, base: PAGE, hosts, readOnly, identify, signIn });
}

/** Accepts each request of this machine, or with a key those that have it. */
function identifyBy(key: string | undefined, human: Principal): (request: Request) => Principal | null {
  if (key === undefined) return () => human;
  const wanted = digest(key);
  return ({ headers }) => {
    const bearer = /^bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const given = headers.get('x-api-key') ?? bearer ?? '';
    return timingSafeEqual(digest(given), wanted) ? human : null;
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const STOPPING = 'The server is stopping. Ask again when it has started.';

const unavailable = (): Response =>
  Response.json(
    { error: 'UNAVAILABLE', code: 'UNAVAILABLE', message: STOPPING, detail: STOPPING },
    { status: 503, headers: { 'retry-after': '2' } },
  );

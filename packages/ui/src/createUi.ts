import type { Principal } from '@devs/core';
import { DraftFolder } from './drafts/DraftFolder.ts';
import { errorResponse, UiError } from './http/errors.ts';
import { requestRefusal } from './http/guard.ts';
import { findRoute } from './http/router.ts';
import { type ReadAsset, type Route, type RouteContext, readBuiltAsset } from './routes/Route.ts';
import { ROUTES } from './routes/routes.ts';
import { ChangeFeed } from './state/ChangeFeed.ts';
import { type Asking, RunsPlace, type RunsPlaceOptions } from './state/RunsPlace.ts';
import type { ReadCommit, ReadGateCode } from './views/gateCode.ts';
import type { WithRewindable } from './views/rewindView.ts';

export interface UiOptions extends RunsPlaceOptions {
  /** `Host` values to accept, such as `inbox.example.org`. */
  readonly hosts: readonly string[];
  /** Returns the person of a request, or `null` to reject it. A person who can read can decide in their own name. */
  readonly identify: (request: Request) => Principal | null | Promise<Principal | null>;
  /** Disable decisions. @defaultValue false */
  readonly readOnly?: boolean;
  /** Path of the handler, without a slash at its end. @defaultValue '' */
  readonly base?: string;
  /** Reads the code of a review. @defaultValue the page prints where it is */
  readonly readCode?: ReadGateCode;
  /** Reads the changes of a run's commit. @defaultValue the page prints where it is */
  readonly readCommit?: ReadCommit;
  /**
   * Opens a run with the agents, workspace and checks of its start, to rewind it, which moves its files.
   * @defaultValue runs with agents cannot be rewound here
   */
  readonly rewinding?: WithRewindable;
  /**
   * Folder for drafts, one file each, readable by its owner only.
   *
   * @defaultValue drafts last as long as the tab
   */
  readonly drafts?: string;
  /** Agents that answer questions about their work, within the runs' budgets. @defaultValue questions are unavailable */
  readonly asking?: Asking;
  /** Exchanges a one-time code for a session secret; see `OneTimeCodes`. @defaultValue without codes */
  readonly signIn?: (code: string) => string | null;
  /** The files of the page. @defaultValue those of this package */
  readonly readAsset?: ReadAsset;
}

/** Answers a request of the page. It does not reject. */
export type UiHandler = (request: Request) => Promise<Response>;

/**
 * Creates the page as a handler for any server. It reads one state file or a cluster and records decisions of the
 * people that `identify` returns. It executes no run and keeps nothing open while the page is closed.
 *
 * @example
 * ```ts
 * const ui = createUi({
 *   dir: '.devs',
 *   hosts: ['inbox.example.org'],
 *   base: '/inbox',
 *   identify: async (request) => personOf(await sessions.find(request)),
 * });
 * app.all('/inbox/*', (c) => ui(c.req.raw)); // Hono
 * ```
 */
export function createUi({
  hosts,
  identify,
  base = '',
  readOnly: isReadOnly = false,
  readCode = async () => null,
  readCommit = async () => null,
  readAsset = readBuiltAsset,
  rewinding,
  signIn,
  drafts: folder,
  asking,
  ...at
}: UiOptions): UiHandler {
  const place = new RunsPlace(at);
  const drafts = folder === undefined ? undefined : new DraftFolder(folder);
  const deps: RouteContext = {
    ...{
      place,
      feed: new ChangeFeed(place),
      readCode,
      readCommit,
      readAsset,
      signIn,
      isReadOnly,
      drafts,
      asking,
    },
    rewinding: rewinding ?? ((id, work) => place.write(async (devs) => work(await devs.run(id)))),
  };
  const known = new Set(hosts);
  return async (request) => {
    try {
      const refusal = requestRefusal(request, known);
      if (refusal !== null) throw refusalError(refusal);
      const { route, params } = routeOf(request, base);
      if (route.access === 'open') return await route.handle({ request, params }, deps);
      const by = await identify(request);
      if (by === null) throw unknownPerson();
      if (route.access === 'decide' && isReadOnly) throw readsOnly();
      return await route.handle({ request, params }, { ...deps, by });
    } catch (error) {
      return errorResponse(error);
    }
  };
}

function routeOf(
  { method, url }: Request,
  base: string,
): { route: Route; params: Readonly<Record<string, string>> } {
  const { pathname } = new URL(url);
  const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : '';
  const found = findRoute(ROUTES, method, path);
  if (found.kind === 'route') return found;
  const [status, code] = found.kind === 'nothing' ? [404, 'NOT_FOUND'] : [405, 'METHOD_REFUSED'];
  const remedy = 'Go back to the inbox.';
  throw new UiError(Number(status), { code: String(code), message: 'Page not found.', remedy });
}

const refusalError = ({ status, code, message }: NonNullable<ReturnType<typeof requestRefusal>>): UiError =>
  new UiError(status, { code, message, remedy: 'Open the link that devs ui printed.' });

const unknownPerson = (): UiError =>
  new UiError(401, {
    code: 'NOT_SIGNED_IN',
    message: 'You are not signed in.',
    remedy: 'Open the newest link that devs ui printed.',
  });

const readsOnly = (): UiError =>
  new UiError(403, {
    code: 'READ_ONLY',
    message: 'This page is read-only, because it was not started in a terminal.',
    remedy: 'Decide with devs approve or devs reject, or start devs ui in a terminal.',
  });

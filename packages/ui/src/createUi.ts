import type { Principal } from '@devs/core';
import { Hono } from 'hono';
import { DraftFolder } from './drafts/DraftFolder.ts';
import { type DriveRun, PageDrives } from './drives/PageDrives.ts';
import { errorResponse, UiError } from './http/errors.ts';
import { requestRefusal } from './http/guard.ts';
import {
  type ReadAsset,
  type Route,
  type RouteContext,
  type RouteRequest,
  readBuiltAsset,
  type StartRun,
} from './routes/Route.ts';
import { ROUTES } from './routes/routes.ts';
import { ChangeFeed } from './state/ChangeFeed.ts';
import { type AskingOf, askingFor, RunsPlace, type RunsPlaceOptions } from './state/RunsPlace.ts';
import type { ReadCommit, ReadGateCode } from './views/gateCode.ts';
import type { WithRewindable } from './views/rewindView.ts';
import type { ReadBranch } from './views/runView.ts';

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
   * Reads the branch to merge, with its command; returns `null` before commits lie on it.
   * @defaultValue the page names no branch
   */
  readonly readBranch?: ReadBranch;
  /**
   * Opens a run with the agents, workspace and checks of its start, to rewind it, which moves its files.
   * @defaultValue runs with agents cannot be rewound here
   */
  readonly rewinding?: WithRewindable;
  /** Let people execute runs from the page. A person needs the right to decide. @defaultValue false */
  readonly drive?: boolean;
  /** Executes a run for `drive`. @defaultValue with the agents, workspace and checks of `asking` */
  readonly driving?: DriveRun;
  /** Starts a run from a brief, for `drive`; returns its id. @defaultValue runs are started elsewhere */
  readonly starting?: StartRun;
  /**
   * Folder for drafts, one file each, readable by its owner only.
   *
   * @defaultValue drafts last as long as the tab
   */
  readonly drafts?: string;
  /**
   * Agents that answer questions about their work, within the runs' budgets: the same for all runs, or a function of the run.
   * @defaultValue questions are unavailable
   */
  readonly asking?: AskingOf;
  /** Exchanges a one-time code for a session secret; see `OneTimeCodes`. @defaultValue without codes */
  readonly signIn?: (code: string) => string | null;
  /** The files of the page. @defaultValue those of this package */
  readonly readAsset?: ReadAsset;
}

/** Answers a request of the page. It does not reject. */
export interface UiHandler {
  (request: Request): Promise<Response>;
  /** Stops the runs that the page executes at their next safe point, and waits for that. */
  close(): Promise<void>;
  /** Stops them at once. */
  abort(): void;
}

/**
 * Creates the page as a handler for any server. It reads one state file or a cluster and records decisions of the
 * people that `identify` returns. It executes runs only with `drive`.
 *
 * @throws TypeError for `drive` without a way to execute a run.
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
  readBranch,
  readAsset = readBuiltAsset,
  rewinding,
  signIn,
  drafts: folder,
  asking,
  drive = false,
  driving,
  starting,
  ...at
}: UiOptions): UiHandler {
  const place = new RunsPlace(at);
  const drives = drive ? new PageDrives(driving ?? withAgents(place, asking)) : undefined;
  const drafts = folder === undefined ? undefined : new DraftFolder(folder);
  const deps: RouteContext = {
    ...{ place, readCode, readCommit, readBranch, readAsset, signIn, isReadOnly, drafts, asking, drives },
    feed: new ChangeFeed(place),
    code: at.code,
    starting: drive ? starting : undefined,
    rewinding: rewinding ?? ((id, work) => place.write(async (devs) => work(await devs.run(id)))),
  };
  const routes = routesBelow(base, identifyFirst(identify, deps));
  return Object.assign(refuseOthers(new Set(hosts), routes), {
    close: async () => drives?.drain(),
    abort: () => drives?.abort(),
  });
}

type AnswerRoute = (route: Route, asked: RouteRequest) => Promise<Response>;

/** Answers in the name of a person, as far as they may. */
function identifyFirst(identify: UiOptions['identify'], deps: RouteContext): AnswerRoute {
  return async (route, asked) => {
    if (route.access === 'open') return route.handle(asked, deps);
    const by = await identify(asked.request);
    if (by === null) throw unknownPerson();
    if (route.access === 'decide' && deps.isReadOnly) throw readsOnly();
    return route.handle(asked, { ...deps, by });
  };
}

/** Answers requests to known hosts only. What is thrown becomes a response. */
function refuseOthers(hosts: ReadonlySet<string>, routes: Hono) {
  return async (request: Request): Promise<Response> => {
    try {
      const refusal = requestRefusal(request, hosts);
      if (refusal !== null) throw refusalError(refusal);
      return await routes.fetch(request);
    } catch (error) {
      return errorResponse(error);
    }
  };
}

/** @throws TypeError without agents. */
function withAgents(place: RunsPlace, asking: AskingOf | undefined): DriveRun {
  if (asking === undefined)
    throw new TypeError('createUi: `drive` needs `driving`, or the agents of `asking`.');
  return async (run, stop) =>
    place.ask(await askingFor(asking, run), async (devs) => (await devs.run(run)).resume(stop));
}

/** All paths. Hono answers HEAD by GET and drops the body; the stream of changes would stay open. */
function routesBelow(base: string, answer: AnswerRoute): Hono {
  const app = new Hono({ getPath: ({ url }) => pathBelow(base, new URL(url)) });
  app.onError((error) => errorResponse(error));
  app.notFound(() => errorResponse(noPage(404, 'NOT_FOUND')));
  for (const route of ROUTES) {
    app.on(route.method, route.path, (c) => {
      if (c.req.raw.method === 'HEAD') throw noPage(405, 'METHOD_REFUSED');
      return answer(route, { request: c.req.raw, params: c.req.param() });
    });
  }
  for (const { path } of ROUTES) app.all(path, () => errorResponse(noPage(405, 'METHOD_REFUSED')));
  return app;
}

/** The part of a path below `base`; empty for other paths and for paths that cannot be decoded. */
function pathBelow(base: string, { pathname }: URL): string {
  if (!pathname.startsWith(`${base}/`)) return '';
  try {
    decodeURIComponent(pathname);
    return pathname.slice(base.length);
  } catch {
    return '';
  }
}

const noPage = (status: 404 | 405, code: 'NOT_FOUND' | 'METHOD_REFUSED'): UiError =>
  new UiError(status, { code, message: 'Page not found.', remedy: 'Go back to the inbox.' });

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

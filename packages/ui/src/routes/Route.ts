import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Principal } from '@devs/core';
import type { DraftFolder } from '../drafts/DraftFolder.ts';
import type { PageDrives } from '../drives/PageDrives.ts';
import { UiError } from '../http/errors.ts';
import { respond } from '../http/responses.ts';
import type { ChangeFeed } from '../state/ChangeFeed.ts';
import type { AskingOf, RunsPlace, RunsPlaceOptions } from '../state/RunsPlace.ts';
import type { ReadCommit, ReadGateCode } from '../views/gateCode.ts';
import type { WithRewindable } from '../views/rewindView.ts';
import type { ReadBranch } from '../views/runView.ts';

/** The page that routes work with. */
export interface RouteContext {
  readonly place: RunsPlace;
  readonly feed: ChangeFeed;
  readonly readAsset: ReadAsset;
  readonly readCode: ReadGateCode;
  readonly readCommit: ReadCommit;
  /** Absent where the page names no branch. */
  readonly readBranch: ReadBranch | undefined;
  /** Reads files of runs. */
  readonly code: RunsPlaceOptions['code'];
  readonly rewinding: WithRewindable;
  /** Turns a code into the secret of a session; absent where who may look is known otherwise. */
  readonly signIn?: ((code: string) => string | null) | undefined;
  readonly isReadOnly: boolean;
  /** Absent where what is written lasts as long as its tab. */
  readonly drafts: DraftFolder | undefined;
  /** Absent where nobody can be asked. */
  readonly asking: AskingOf | undefined;
  /** Absent without `drive`. */
  readonly drives: PageDrives | undefined;
  /** Absent without `drive`. */
  readonly starting: StartRun | undefined;
}

/** Starts a run from the text of a brief, in a person's name. Returns its id. */
export type StartRun = (brief: string, by: Principal) => Promise<string>;

export interface RouteRequest {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}

export interface RoutePath {
  readonly method: 'GET' | 'POST';
  /** `/api/runs/:run`: a part that begins with a colon is a parameter. */
  readonly path: `/${string}`;
}

export type RouteContextFor<By> = RouteContext & { readonly by: By };

/**
 * `open`: anybody on this machine, it shows nothing of a run. `read`: who was identified. `decide`: the same, where
 * deciding is allowed at all.
 */
export type Route = RoutePath &
  (
    | { readonly access: 'open'; handle(asked: RouteRequest, deps: RouteContext): Promise<Response> }
    | {
        readonly access: 'read' | 'decide';
        handle(asked: RouteRequest, deps: RouteContextFor<Principal>): Promise<Response>;
      }
  );

/** The text of a file of the page, by its name. */
export type ReadAsset = (name: string) => Promise<string>;

/** What the build puts into `dist`, as far from the sources as from what they become; a bundle has it beside it. */
function pageFolder(): URL {
  const beside = new URL('./page/', import.meta.url);
  return existsSync(beside) ? beside : new URL('../../dist/page/', import.meta.url);
}

export const readBuiltAsset: ReadAsset = (name) => readFile(new URL(name, pageFolder()), 'utf8');

const asset = (path: Route['path'], name: string, type: string): Route => ({
  method: 'GET',
  path,
  access: 'open',
  handle: async (_asked, { readAsset }) => respond(await readAsset(name), `${type}; charset=utf-8`),
});

/** The page itself: the same for everybody, without a word of any run. */
export const ASSETS: readonly Route[] = [
  asset('/', 'index.html', 'text/html'),
  asset('/page.js', 'page.js', 'text/javascript'),
  asset('/page.css', 'page.css', 'text/css'),
  {
    method: 'GET',
    path: '/code/:file',
    access: 'open',
    handle: async ({ params: { file = '' } }, { readAsset }) => {
      if (!/^[\w-]+\.js$/.test(file)) throw noAsset();
      return respond(await readAsset(`code/${file}`), 'text/javascript; charset=utf-8');
    },
  },
  {
    method: 'GET',
    path: '/icon.svg',
    access: 'open',
    handle: async ({ request: { url } }) =>
      respond(icon(Number(new URL(url).searchParams.get('waiting'))), 'image/svg+xml; charset=utf-8'),
  },
];

const noAsset = (): UiError =>
  new UiError(404, { code: 'NOT_FOUND', message: 'Page not found.', remedy: 'Go back to the inbox.' });

/** Of the tab, with how many gates wait. */
function icon(waiting: number): string {
  const count = Number.isInteger(waiting) && waiting > 0 ? Math.min(waiting, 99) : null;
  const badge =
    count === null
      ? ''
      : `<circle cx="22" cy="10" r="10" fill="#8f5400"/><text x="22" y="15" font-family="sans-serif" font-size="13" font-weight="700" text-anchor="middle" fill="#fff">${count}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="4" width="26" height="26" rx="6" fill="#fdf3e1" stroke="#8f5400" stroke-width="2"/><path d="M6 20 18 8M10 26 24 12M18 26l6-6" stroke="#8f5400" stroke-width="2"/>${badge}</svg>`;
}

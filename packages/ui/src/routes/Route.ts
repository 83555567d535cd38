import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Principal } from '@devs/core';
import type { DraftFolder } from '../drafts/DraftFolder.ts';
import { respond } from '../http/responses.ts';
import type { Routed } from '../http/router.ts';
import type { ChangeFeed } from '../state/ChangeFeed.ts';
import type { Asking, RunsPlace } from '../state/RunsPlace.ts';
import type { ReadCommit, ReadGateCode } from '../views/gateCode.ts';
import type { WithRewindable } from '../views/rewindView.ts';

/** The page that routes work with. */
export interface RouteContext {
  readonly place: RunsPlace;
  readonly feed: ChangeFeed;
  readonly readAsset: ReadAsset;
  readonly readCode: ReadGateCode;
  readonly readCommit: ReadCommit;
  readonly rewinding: WithRewindable;
  /** Turns a code into the secret of a session; absent where who may look is known otherwise. */
  readonly signIn?: ((code: string) => string | null) | undefined;
  readonly isReadOnly: boolean;
  /** Absent where what is written lasts as long as its tab. */
  readonly drafts: DraftFolder | undefined;
  /** Absent where nobody can be asked. */
  readonly asking: Asking | undefined;
}

export interface RouteRequest {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}

export type RouteContextFor<By> = RouteContext & { readonly by: By };

/**
 * `open`: anybody on this machine, it shows nothing of a run. `read`: who was identified. `decide`: the same, where
 * deciding is allowed at all.
 */
export type Route = Routed &
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
];

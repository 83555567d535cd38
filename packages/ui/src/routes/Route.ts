import type { Principal } from '@devs/core';
import type { DraftFolder } from '../drafts/DraftFolder.ts';
import type { Routed } from '../http/router.ts';
import type { ChangeFeed } from '../state/ChangeFeed.ts';
import type { Asking, RunsPlace } from '../state/RunsPlace.ts';
import type { ReadCommit, ReadGateCode } from '../views/gateCode.ts';
import type { WithRewindable } from '../views/rewindView.ts';
import type { ReadAsset } from './assets.ts';

/** What routes work with. */
export interface RouteDeps {
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

export type RouteDepsFor<By> = RouteDeps & { readonly by: By };

/**
 * `open`: anybody on this machine, it shows nothing of a run. `read`: who was identified. `decide`: the same, where
 * deciding is allowed at all.
 */
export type Route = Routed &
  (
    | { readonly access: 'open'; handle(asked: RouteRequest, deps: RouteDeps): Promise<Response> }
    | {
        readonly access: 'read' | 'decide';
        handle(asked: RouteRequest, deps: RouteDepsFor<Principal>): Promise<Response>;
      }
  );

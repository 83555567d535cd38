import { branches } from './kinds/branches.ts';
import { budget } from './kinds/budget.ts';
import { cancelled } from './kinds/cancelled.ts';
import { child } from './kinds/child.ts';
import { code } from './kinds/code.ts';
import { decided } from './kinds/decided.ts';
import { depth } from './kinds/depth.ts';
import { design } from './kinds/design.ts';
import { edited } from './kinds/edited.ts';
import { endedUndo } from './kinds/endedUndo.ts';
import { exact } from './kinds/exact.ts';
import { failed } from './kinds/failed.ts';
import { frame } from './kinds/frame.ts';
import { interrupted } from './kinds/interrupted.ts';
import { killed } from './kinds/killed.ts';
import { ownGate } from './kinds/ownGate.ts';
import { paused } from './kinds/paused.ts';
import { plan } from './kinds/plan.ts';
import { rewind } from './kinds/rewind.ts';
import { signal } from './kinds/signal.ts';
import { started } from './kinds/started.ts';
import { stuck } from './kinds/stuck.ts';
import { subgraphStep } from './kinds/subgraphStep.ts';
import { toolStep } from './kinds/toolStep.ts';
import { turn } from './kinds/turn.ts';
import { undoneRewind } from './kinds/undoneRewind.ts';
import { voted } from './kinds/voted.ts';
import { RELEASES, type Release } from './releases.ts';
import type { StateFileKind } from './StateFileKind.ts';

/** Everything a run can wait for. */
export const KINDS: Readonly<Record<string, StateFileKind>> = {
  // First: who finds the lease of a process on another machine waits ten seconds.
  killed,
  rewind,
  undoneRewind,
  endedUndo,
  started,
  design,
  plan,
  decided,
  edited,
  code,
  stuck,
  paused,
  ownGate,
  branches,
  interrupted,
  budget,
  depth,
  subgraphStep,
  toolStep,
  failed,
  cancelled,
  frame,
  signal,
  child,
  voted,
  turn,
  exact,
};

/** Names of the kinds that a release has archives of. */
export const kindsOf = (release: Release): readonly string[] =>
  Object.entries(KINDS)
    .filter(([, { since }]) => RELEASES.indexOf(since) <= RELEASES.indexOf(release))
    .map(([name]) => name);

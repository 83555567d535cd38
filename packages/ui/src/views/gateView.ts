import {
  type ClosedGate,
  type Gate,
  type PipelineRunInfo,
  type Principal,
  type Run,
  shownGate,
} from '@devs/core';
import type { LastComment, QuotableSection, ShownGate as ShownOf } from '@devs/core/internal';
import { UiError } from '../http/errors.ts';
import type { ReadableRun } from '../state/RunsPlace.ts';
import { choiceButtons, type GateChoice, gateLabel } from './choices.ts';
import { type EvidenceView, evidenceView } from './evidenceView.ts';
import { type GateWork, gateWork } from './gateWork.ts';

export interface GateView extends Omit<ShownOf, 'takes'> {
  readonly about: string;
  readonly title: string;
  readonly isOpen: boolean;
  /** How it is answered here; empty where it is not, or was. */
  readonly choices: readonly GateChoice[];
  /** What a guard has seen; `null` at a gate that no guard has opened. */
  readonly evidence: EvidenceView | null;
  /** The work behind a review; `null` at any other gate. */
  readonly work: GateWork | null;
  /** Of the run so far. */
  readonly cost: PipelineRunInfo['cost'];
  /** The texts that comments can quote, but for those of code. */
  readonly places: readonly QuotableSection[];
  /** What was said of the version before, and what became of it. */
  readonly lastComments: readonly LastComment[];
  /** The gate before of its kind and task in this run, that was sent back: what was said. */
  readonly before: Earlier | null;
  /** Every other version that a gate of its kind and task has shown in this run, oldest first. */
  readonly versions: readonly Version[];
  /** The version that whoever looks was shown last, where that was another one. */
  readonly readBefore: string | null;
  /** Oldest first. */
  readonly exchanges: Awaited<ReturnType<Run['exchanges']>>;
  /** Of a closed gate. */
  readonly closed: Pick<ClosedGate, 'status' | 'principal' | 'decidedAt' | 'decision' | 'hidden'> | null;
  /** The open gate that asks the same now, where this one is not open any more. */
  readonly next: string | null;
}

/** As the page gets it. */
export interface ShownGateView extends GateView {
  /** Whether whoever serves the page gave it agents, and one of them made what is shown. */
  readonly canAsk: boolean;
}

export interface Earlier extends Pick<ClosedGate, 'sessionId' | 'artifactHash' | 'principal' | 'decidedAt'> {
  readonly feedback: string | null;
}

export interface Version extends Pick<Gate, 'sessionId' | 'artifactHash' | 'openedAt'> {
  readonly isOpen: boolean;
}

/** @throws UiError for a session the run does not have. */
export async function gateView(run: ReadableRun, sessionId: string, by: Principal): Promise<GateView> {
  const { shown, open, past } = await gatesAround(run, sessionId);
  const isOpen = open.includes(shown);
  const closed = past.find((each) => each === shown) ?? null;
  const isSame = (other: Gate): boolean =>
    other.kind === shown.kind && other.taskId === shown.taskId && other !== shown;
  const { takes: _, ...gate } = shownGate(shown);
  const { title, cost, tasks } = await run.status();
  const before =
    past.findLast((each) => isSame(each) && each.openedAt < shown.openedAt && isNoDecision(each)) ?? null;
  return {
    ...gate,
    about: gateLabel(shown.kind).name,
    ...{ title, cost },
    isOpen,
    choices: isOpen ? choiceButtons(shown) : [],
    places: await run.quotableSections(shown, { code: false }),
    lastComments: await run.lastComments(shown),
    evidence: evidenceView(shown),
    work: shown.kind === 'review' ? gateWork(shown, { tasks, ...(await workOf(run)) }) : null,
    before: before && earlierDecision(before),
    versions: [...past, ...open].filter(isSame).map((each) => gateVersion(each, open.includes(each))),
    readBefore: (await run.lastViewed(shown, by))?.sessionId ?? null,
    exchanges: await run.exchanges(shown),
    closed: closed && closedPart(closed),
    next: isOpen ? null : (open.find(isSame)?.sessionId ?? null),
  };
}

const workOf = async (run: ReadableRun) => ({ steps: await run.steps(), state: await run.state() });

/** @throws UiError for a session the run does not have. */
export async function gateNamed(run: ReadableRun, sessionId: string): Promise<Gate> {
  return (await gatesAround(run, sessionId)).shown;
}

async function gatesAround(run: ReadableRun, sessionId: string) {
  const [open, past] = [await run.gates(), await run.closedGates()];
  const shown: Gate | undefined = [...open, ...past].find((each) => each.sessionId === sessionId);
  if (shown === undefined) throw noGate(sessionId, run.id);
  return { shown, open, past };
}

const gateVersion = ({ sessionId, artifactHash, openedAt }: Gate, isOpen: boolean): Version => ({
  ...{ sessionId, artifactHash, openedAt, isOpen },
});

const closedPart = ({ status, principal, decidedAt, decision, hidden }: ClosedGate) => ({
  ...{ status, principal, decidedAt, decision },
  ...(hidden !== undefined && { hidden }),
});

function earlierDecision({ sessionId, artifactHash, principal, decidedAt, decision }: ClosedGate): Earlier {
  const { feedback } = decision as { readonly feedback?: unknown };
  return {
    ...{ sessionId, artifactHash, principal, decidedAt },
    feedback: typeof feedback === 'string' ? feedback : null,
  };
}

const isNoDecision = ({ decision }: ClosedGate): boolean =>
  typeof decision === 'object' && decision !== null && 'approved' in decision && decision.approved === false;

const noGate = (sessionId: string, runId: string): UiError =>
  new UiError(404, {
    code: 'GATE_NOT_FOUND',
    message: `Run ${runId} has no gate ${sessionId}.`,
    remedy: 'Go back to the inbox and open the gate from there.',
  });

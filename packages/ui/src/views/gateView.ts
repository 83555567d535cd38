import type { ClosedGate, Gate } from '@devs/core';
import { UiError } from '../http/errors.ts';
import type { ReadableRun } from '../state/RunsFile.ts';
import { type Choice, choicesAt, wordsOf } from './choices.ts';
import { type EvidenceView, evidenceView } from './evidenceView.ts';

/** Reads the code that a review is about, from where its commits are; `null` for a gate without code. */
export type ReadCode = (gate: Gate) => Promise<GateCode | null>;

/** The code of a review. */
export interface GateCode {
  /** Unified, masked. */
  readonly diff: string;
  /** Files of which the diff has no line, in words. */
  readonly unshown: readonly string[];
  /** Why it could not be read. */
  readonly problem?: string;
}

export interface GateView extends Omit<Gate, 'takes' | 'responseSchema'> {
  readonly about: string;
  readonly title: string;
  readonly isOpen: boolean;
  /** How it is answered here; empty where it is not, or was. */
  readonly choices: readonly Choice[];
  readonly code: GateCode | null;
  /** What a guard has seen; `null` at a gate that no guard has opened. */
  readonly evidence: EvidenceView | null;
  /** The gate before of its kind and task in this run, that was sent back: what it showed, and what was said. */
  readonly before: Earlier | null;
  /** Of a closed gate. */
  readonly closed: Pick<ClosedGate, 'status' | 'principal' | 'decidedAt' | 'decision'> | null;
  /** The open gate that asks the same now, where this one is not open any more. */
  readonly next: string | null;
}

export interface Earlier extends Pick<ClosedGate, 'artifact' | 'artifactHash' | 'principal' | 'decidedAt'> {
  readonly feedback: string | null;
}

/** @throws UiError for a session the run does not have. */
export async function gateView(run: ReadableRun, sessionId: string, readCode: ReadCode): Promise<GateView> {
  const open = await run.gates();
  const past = await run.closedGates();
  const gate = open.find((each) => each.sessionId === sessionId);
  const closed = past.find((each) => each.sessionId === sessionId) ?? null;
  const shown = gate ?? closed;
  if (shown === null) throw noGate(sessionId, run.id);
  const isSame = (other: Gate): boolean => other.kind === shown.kind && other.taskId === shown.taskId;
  const { kind, threadId, taskId, artifactHash, artifact, message, openedAt, votes } = shown;
  const before = past.findLast((each) => isSame(each) && each.openedAt < openedAt && isNo(each)) ?? null;
  return {
    ...{ sessionId, kind, threadId, taskId, artifactHash, artifact, message, openedAt },
    ...(votes && { votes }),
    about: wordsOf(kind).name,
    title: (await run.status()).title,
    isOpen: gate !== undefined,
    choices: gate === undefined ? [] : choicesAt(gate),
    code: await readCode(shown),
    evidence: evidenceView(shown),
    before: before && earlier(before),
    closed: closed && closedPart(closed),
    next: gate === undefined ? (open.find(isSame)?.sessionId ?? null) : null,
  };
}

const closedPart = ({ status, principal, decidedAt, decision }: ClosedGate) => ({
  ...{ status, principal, decidedAt, decision },
});

function earlier({ artifact, artifactHash, principal, decidedAt, decision }: ClosedGate): Earlier {
  const { feedback } = decision as { readonly feedback?: unknown };
  return {
    ...{ artifact, artifactHash, principal, decidedAt },
    feedback: typeof feedback === 'string' ? feedback : null,
  };
}

const isNo = ({ decision }: ClosedGate): boolean =>
  typeof decision === 'object' && decision !== null && 'approved' in decision && decision.approved === false;

const noGate = (sessionId: string, runId: string): UiError =>
  new UiError(404, {
    code: 'GATE_NOT_FOUND',
    message: `Run ${runId} has no gate ${sessionId}.`,
    remedy: 'Go back to the inbox and open the gate from there.',
  });

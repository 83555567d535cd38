import { DevsError, type Gate, type GateAnswer, type Principal } from '@devs/core';
import { BUDGET_MEASURES, type HitlSession } from '@devs/core/internal';
import type { Session } from '../project/Session.ts';
import {
  assertTakes,
  type ChoiceName,
  choiceCommands,
  GATE_LABELS,
  type GateAnswerForm,
} from './gateLabels.ts';
import { isPassedBudget } from './passedBudget.ts';
import type { NamedGate } from './resolveGate.ts';
import { ShownGates } from './ShownGates.ts';

export interface Decision {
  readonly choice: ChoiceName;
  readonly answer: GateAnswerForm;
}

/** What a human says about a gate; `null` for nothing. */
export type Decide = (gate: NamedGate) => Decision | null | Promise<Decision | null>;

export interface Signed {
  readonly by: Principal;
  /** Beginning of the hash that was read; when left out, the version this user was shown last. */
  readonly hash?: string | undefined;
  /** How they named the gate. @defaultValue the beginning of its id */
  readonly name?: string;
  /** @defaultValue 'command' */
  readonly via?: 'command' | 'file';
  /** Hidden places that are said yes to unread. */
  readonly withHidden?: number | undefined;
}

/**
 * Records what a human said about a gate. A yes is for what was read.
 *
 * @throws DevsError `INVALID_ANSWER`, `GATE_STALE`, `GATE_HIDDEN`, `GATE_ALREADY_DECIDED` and the others of `run.decide`.
 */
export async function recordDecision(
  { run, sessionId, kind, gate }: NamedGate,
  decision: Decision,
  { by, hash, name = sessionId.slice(0, 8), via = 'command', withHidden }: Signed,
  session: Session,
): Promise<HitlSession> {
  assertTakes(gate ?? kind, decision.choice, { gate: name, devs: session.devs });
  if (gate !== null) assertRaisesLimit(gate, decision, session);
  const shown = new ShownGates(session);
  if (hash === undefined && gate !== null && isYesChoice(decision)) assertShown(gate, shown, session);
  // A closed gate has no hash to approve; the engine refuses and says who decided.
  const artifactHash = hash ?? gate?.artifactHash ?? '';
  const answer = { ...decision.answer, withHidden, by, via } as GateAnswer<object>;
  const decided = await run.decide({ sessionId, artifactHash }, answer);
  if (openVote(decided) === null) shown.forget({ sessionId });
  return decided;
}

/** `approved: design of csv-export, hash 9b74c9897bac, by ada` */
export function formatRecordedDecision({ choice }: Decision, session: HitlSession) {
  const { kind, threadId, artifactHash, principal } = session;
  const about = `${GATE_LABELS[kind].name} of ${threadId}, hash ${artifactHash?.slice(0, 12)}`;
  const open = openVote(session);
  if (open === null) return `${SAID[choice]}: ${about}, by ${principal?.id}`;
  return `approved, ${open.votes} of ${open.needed}: ${about}, by ${open.voters.join(', ')}`;
}

/**
 * The engine refuses it too; here the flags to type are known.
 *
 * @throws DevsError `INVALID_ANSWER` for a raise of what was not passed.
 */
function assertRaisesLimit(gate: Gate, { choice, answer }: Decision, { devs }: Session): void {
  const { kind, artifact, sessionId } = gate;
  if (choice !== 'raise' || !isPassedBudget(artifact)) return;
  const passed = new Set<string>(artifact.limits.map(({ measure }) => measure));
  const given = Object.keys(BUDGET_MEASURES).filter((measure) => answer[measure] !== undefined);
  if (given.every((measure) => passed.has(measure))) return;
  const raise = choiceCommands(gate, [sessionId.slice(0, 8)], devs).find(
    (each) => each.choice.name === 'raise',
  );
  throw new DevsError('The next call would exceed another limit of the budget.', {
    code: 'INVALID_ANSWER',
    remedy: `Raise that limit: ${raise?.command ?? ''}`,
    context: { kind, sessionId },
  });
}

/** What lets a proposal pass. A no, an edit that is asked about again and an end of the run approve nothing. */
const isYesChoice = ({ choice }: Decision): boolean => YESES.has(choice);
const YESES: ReadonlySet<ChoiceName> = new Set(['approve', 'value', 'version']);

/** @throws DevsError `GATE_STALE` when this user was shown another version last, or none. */
function assertShown(gate: Gate, shown: ShownGates, { devs }: Session): void {
  const last = shown.hashOf(gate);
  if (last === gate.artifactHash) return;
  const id = gate.sessionId.slice(0, 8);
  const what = last === null ? 'has not been shown to you yet' : 'has changed since it was shown to you';
  throw new DevsError(`Gate ${id} ${what}.`, {
    code: 'GATE_STALE',
    remedy: `Read it with ${devs('show', id)}, which prints each answer with its --hash, then decide.`,
    context: { sessionId: gate.sessionId, artifactHash: gate.artifactHash },
  });
}

/** Begins the sentence about a decision. */
const SAID: Readonly<Record<ChoiceName, string>> = {
  approve: 'approved',
  reject: 'rejected',
  edit: 'edited',
  retry: 'retry requested',
  skip: 'skipped',
  continue: 'continued',
  raise: 'raised',
  use: 'recorded result used',
  repeat: 'call will be repeated',
  again: 'checks will run again',
  'first-task': 'left to the first task',
  accept: 'accepted',
  abort: 'aborted',
  value: 'answered',
  version: 'edited and approved',
};

/** How far a gate that wants several yeses has come. */
export interface OpenVote {
  readonly votes: number;
  readonly needed: number;
  /** Who has said yes, oldest first. */
  readonly voters: readonly string[];
}

/** `null` where what was said has decided the gate. */
export function openVote({ status, votes = [], question }: HitlSession): OpenVote | null {
  const { takes } = (question ?? {}) as {
    readonly takes?: { readonly approvals?: { readonly count: number } };
  };
  const needed = takes?.approvals?.count;
  if (status !== 'awaiting_approval' || needed === undefined) return null;
  return { votes: votes.length, needed, voters: votes.map(({ principal }) => principal.id) };
}

export const DECISION_RECORDED = 'recorded; the process that runs it will apply the decision';

import type { BudgetLimits } from '../../config/budgetMeasures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { type HiddenPlace, maskAtGate } from '../../masking/maskAtGate.ts';
import type { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import type {
  HiddenRecord,
  HitlSession,
  HitlSessionKind,
  Principal,
  Vote,
} from '../../state/gates/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import type { CommentTally, GateComment } from './answerForms.ts';
import { gateTimes } from './approvals.ts';
import type { AnswerPolicy } from './DeclaredGate.ts';
import { textsIn } from './hiddenPlaces.ts';
import { commonDecisions, middlewareQuestion } from './middlewareQuestion.ts';
import { principalOf, principalText } from './principals.ts';

/** {@link AnswerPolicy}, in which one word is recorded in another spelling. */
export interface GateTakes extends Omit<AnswerPolicy, 'edit'> {
  /** An edited version of the `artifact`, or of the arguments of a tool call: `{ edit }`. */
  readonly edit?: 'artifact' | 'args';
}

/** An open question to a person, with its content. A decision is valid only for its `artifactHash`. */
export interface Gate {
  readonly sessionId: string;
  readonly threadId: string;
  readonly kind: HitlSessionKind;
  readonly taskId: string;
  /** SHA-256 (hex) of `artifact`. */
  readonly artifactHash: string;
  readonly message: string;
  readonly artifact: unknown;
  /** Number of places that were masked before the gate was recorded. They cannot be revealed. */
  readonly masked?: number;
  /** Comments of the rejection before it, and how many of their texts have changed since; absent without comments. */
  readonly comments?: CommentTally;
  /** JSON Schema of the values that an `interrupt()` or a declared gate accepts, if it has one. */
  readonly responseSchema?: unknown;
  /**
   * Decisions that each action in a question of LangChain's `humanInTheLoopMiddleware` accepts; absent at other gates.
   * `{ approved }` approves or rejects all its actions.
   */
  readonly decisions?: readonly ('approve' | 'edit' | 'reject')[];
  /** Answers that a declared gate accepts besides an approval. */
  readonly takes?: GateTakes;
  /** Approvals so far, oldest first, if the gate needs certain or several people. */
  readonly votes?: readonly GateVote[];
  /** ISO 8601, UTC. */
  readonly openedAt: string;
  /** Next deadline: ISO 8601, UTC. */
  readonly dueAt?: string;
  /** People named by a deadline. */
  readonly assignedTo?: readonly string[];
}

export interface GateVote {
  /** Such as `human:ada`. */
  readonly principal: string;
  /** ISO 8601, UTC. */
  readonly votedAt: string;
  readonly feedback?: string;
}

/**
 * An answer that somebody sent, before it is checked. `via` records how it was made: `page`, `command`, `file`, `program` or
 * another short word. `withHidden` is the number of hidden places that a person approves unread.
 */
export type SentAnswer = {
  readonly by: Principal;
  readonly via?: string | undefined;
  readonly withHidden?: number | undefined;
} & Readonly<Record<string, unknown>>;

/**
 * Checks the arguments of `decide`, and returns the answer. `gates[0]` of a run that has ended is `undefined`.
 *
 * @throws TypeError with the reason.
 */
export function sentAnswer(gate: unknown, answer: object): SentAnswer {
  if (gate === undefined || gate === null) {
    throw new TypeError(
      `decide: there is no gate (got ${String(gate)}). A run has open gates only while its status is "waiting": ` +
        'this one may have ended, failed, or been paused. Look at the `status` and `reason` of its result.',
    );
  }
  const { sessionId, artifactHash } = Object(gate) as Partial<Gate>;
  if (typeof sessionId !== 'string' || typeof artifactHash !== 'string') {
    throw new TypeError('decide: expected one gate, with its `sessionId` and `artifactHash`.');
  }
  if (typeof answer !== 'object' || answer === null) {
    throw new TypeError('decide: expected an answer, such as { approved: true, by }.');
  }
  return answer as SentAnswer;
}

/** An answer whose principal was read once: the same value is checked and recorded, here and elsewhere. */
export const readOnce = (answer: SentAnswer): SentAnswer => ({ ...answer, by: principalOf(answer.by) });

/** A gate that is no longer open, with its content and decision. */
export interface ClosedGate extends Gate {
  /** `decided`: not applied yet. `resumed`: applied. `superseded`: asked again, or rewound. `cancelled`: the run ended. */
  readonly status: Exclude<HitlSession['status'], 'awaiting_approval'>;
  /** The recorded answer, or `null`. */
  readonly decision: unknown;
  /** For example `human:ada`; `null` without a decision. */
  readonly principal: string | null;
  /** ISO 8601, UTC. */
  readonly decidedAt: string | null;
  /** How the decision was made, if recorded: `page`, `command`, `file`, … */
  readonly via?: string;
  /** Hidden places, if there were any. */
  readonly hidden?: HiddenRecord;
}

/** The questions of a run that are closed, oldest first. */
export function closedGates(threadId: string, sessions: HitlSessionStore): readonly ClosedGate[] {
  return sessions.listClosed(threadId).flatMap((session) => closedGate(session) ?? []);
}

/** `null` while it is open. */
function closedGate(session: HitlSession): ClosedGate | null {
  const { status, decision, principal, decidedAt, via, hidden } = session;
  if (status === 'awaiting_approval') return null;
  return {
    ...gateOf(session),
    status,
    decision,
    principal: principal === null ? null : `${principal.kind}:${principal.id}`,
    decidedAt: decidedAt === null ? null : new Date(decidedAt).toISOString(),
    ...(via !== undefined && { via }),
    ...(hidden !== undefined && { hidden }),
  };
}

/** The questions of all runs whose ids begin so: of the newest run first, and of each the oldest first. */
export function gatesNamed(beginning: string, sessions: HitlSessionStore): readonly (Gate | ClosedGate)[] {
  return sessions.listNamed(beginning).map((session) => closedGate(session) ?? gateOf(session));
}

type GateContent = Partial<Pick<Gate, 'message' | 'artifact' | 'masked' | 'comments' | 'responseSchema'>> & {
  readonly takes?: AnswerPolicy;
};

/** @throws DevsError `STATE_CORRUPT` if what is shown is not what an answer binds to. */
export function gateOf(session: HitlSession): Gate {
  const { message = '', artifact = null, ...besides } = (session.question ?? {}) as GateContent;
  if (session.question !== null && session.artifactHash !== hashOf(artifact)) throw mismatch(session.id);
  return {
    sessionId: session.id,
    threadId: session.threadId ?? '',
    kind: session.kind,
    taskId: session.taskId,
    artifactHash: session.artifactHash ?? '',
    message,
    artifact,
    ...wherePresent(besides),
    ...decisionsAt({ kind: session.kind, artifact }),
    ...(session.votes !== undefined && { votes: session.votes.map(voteOf) }),
    openedAt: new Date(session.suspendedAt).toISOString(),
  };
}

const wherePresent = ({ masked, comments, responseSchema, takes }: GateContent): Partial<Gate> => ({
  ...(masked !== undefined && { masked }),
  ...(comments !== undefined && { comments }),
  ...(responseSchema !== undefined && { responseSchema }),
  ...(takes !== undefined && { takes: gateTakes(takes) }),
});

function decisionsAt({ kind, artifact }: Pick<Gate, 'kind' | 'artifact'>): Pick<Gate, 'decisions'> {
  const question = kind === 'interrupt' ? middlewareQuestion(artifact) : null;
  return question === null ? {} : { decisions: commonDecisions(question) };
}

const gateTakes = ({ edit, ...takes }: AnswerPolicy | GateTakes): GateTakes => ({
  ...takes,
  ...(edit !== undefined && { edit: edit === 'artefact' ? 'artifact' : edit }),
});

/** A gate as it was kept in a list outside of its file, by this release or one before. @param json - Of a {@link Gate}. */
export function listedGate(json: string): Gate {
  const { takes, ...gate } = JSON.parse(json) as Gate;
  return { ...gate, ...decisionsAt(gate), ...(takes !== undefined && { takes: gateTakes(takes) }) };
}

const voteOf = ({ principal, votedAt, feedback }: Vote): GateVote => ({
  principal: principalText(principal),
  votedAt: new Date(votedAt).toISOString(),
  ...(feedback !== null && { feedback }),
});

/** The questions a run waits for, oldest first. */
export function openGates(threadId: string, sessions: HitlSessionStore): readonly Gate[] {
  return sessions.listOpen(threadId).map(gateOf);
}

/** A gate with its next deadline, and the people that a past one named. */
export const gateWithDeadlines = (session: HitlSession, { waits }: Pick<StateFile, 'waits'>): Gate => ({
  ...gateOf(session),
  ...gateTimes(session, waits),
});

/** The open gates of a run with their deadlines, oldest first. */
export const gatesOf = (
  threadId: string,
  { sessions, waits }: Pick<StateFile, 'sessions' | 'waits'>,
): readonly Gate[] => sessions.listOpen(threadId).map((session) => gateWithDeadlines(session, { waits }));

/** The questions that all runs wait for: of the newest run first, and of each the oldest first. */
export function openGatesOfRuns(sessions: HitlSessionStore): readonly Gate[] {
  return sessions.listOpenOfRuns().map(gateOf);
}

function mismatch(sessionId: string): DevsError {
  return new DevsError(`The content of gate "${sessionId}" does not match its recorded hash.`, {
    code: 'STATE_CORRUPT',
    remedy: 'The recorded question was changed. Restore the state file from a backup, or find the cause.',
    context: { sessionId },
  });
}

/** A gate as every view of it shows it, with the places where that is less than what a yes is for. */
export type ShownGate<Of extends Gate = Gate> = Of & {
  readonly hiddenPlaces: readonly HiddenPlace[];
  /** All of them, with those that were masked before the question was recorded. */
  readonly hiddenCount: number;
};

/**
 * Returns a gate for people and programs to read: its content with registered values and fixed tokens hidden, so that
 * everything to approve stays readable. Later masking of output leaves it unchanged.
 *
 * @example
 * ```ts
 * const { artifact, hiddenPlaces, hiddenCount } = shownGate(gate);
 * ```
 */
export function shownGate<Of extends Gate>(gate: Of): ShownGate<Of> {
  const { hidden: hiddenPlaces } = textsIn(gate);
  const whole = { ...gate, hiddenPlaces, hiddenCount: hiddenPlaces.length + (gate.masked ?? 0) };
  return maskAtGate(whole, { gate: gate.sessionId }).view;
}

// The types of answers, by gate. The compiler refuses a wrong answer. `decide` checks each one again.

/** The author of an answer. `via` says how it was made: `page`, `command`, `file`, `program` or another short word. */
interface AnswerAuthor {
  readonly by: Principal;
  readonly via?: string | undefined;
  /** Hidden places that a person approves unread. */
  readonly withHidden?: number | undefined;
}

/** A rejection needs feedback or comments; only a rejection has comments. */
type Verdict<Approved extends boolean = boolean> = {
  readonly approved: Approved;
  readonly feedback?: string | undefined;
  readonly comments?: readonly GateComment[] | undefined;
};

type Reasoned<Action extends string> = { readonly action: Action; readonly reason?: string | undefined };

type Edited<Edit> = { readonly edit: Edit };

type Valued<Value> = { readonly value: Value };

/** Answers by the kind of a gate. A kind that is missing here takes those of all. */
interface AnswersOfKinds {
  readonly node_gate: Verdict | Edited<unknown> | Valued<unknown>;
  readonly interrupt: Valued<unknown>;
  readonly task_failure: Reasoned<'retry' | 'skip' | 'abort'> & { readonly guidance?: string | undefined };
  readonly recursion_limit: Reasoned<'continue' | 'abort'>;
  readonly budget: Reasoned<'abort'> | ({ readonly action: 'raise' } & BudgetLimits);
  readonly step: Reasoned<'use' | 'repeat' | 'abort'>;
  readonly design_approval: Verdict | { readonly action: 'edit'; readonly documents: readonly object[] };
  readonly dag_approval: Verdict | { readonly action: 'edit'; readonly plan: object };
  readonly review: Verdict & { readonly tasks?: readonly string[] | undefined };
  readonly baseline:
    | Reasoned<'again' | 'first-task' | 'abort'>
    | { readonly action: 'accept'; readonly failures?: readonly string[] | undefined };
}

/** Only the compiler sees it. */
declare const taken: unique symbol;

/** A declared gate. Its artifact has the type that `show` returns. */
export interface DeclaredNodeGate<Artifact = unknown, Answers = AnswersOfKinds['node_gate']> extends Gate {
  readonly kind: 'node_gate';
  readonly artifact: Artifact;
  readonly [taken]?: Answers;
}

/** A gate of `interrupt()` or of a guard. */
interface AskedGate extends Gate {
  readonly kind: Exclude<HitlSessionKind, 'node_gate'>;
}

/** For a gate without a type, the answers of every kind. */
type AnswersAt<Asked> = [Asked] extends [never]
  ? AnswersOfKinds[keyof AnswersOfKinds]
  : Asked extends unknown
    ? AnswersOf<Asked>
    : never;

type AnswersOf<Asked> = typeof taken extends keyof Asked
  ? NonNullable<Asked[typeof taken]>
  : Asked extends { readonly kind: infer Kind extends keyof AnswersOfKinds }
    ? AnswersOfKinds[Kind]
    : AnswersOfKinds[keyof AnswersOfKinds];

/**
 * A decision: an answer and its author. It has the answers of the gate's kind (`gate.kind === 'budget'`). For a gate of
 * unknown kind, it has those of all kinds.
 *
 * @example
 * ```ts
 * const yes: GateAnswer = { approved: true, by: { kind: 'human', id: 'ada' } };
 * ```
 */
export type GateAnswer<Asked = Gate> = AnswerAuthor & AnswersAt<Asked>;

/** The gates of an app, by the gates it declares. A gate of kind `node_gate` has a typed artifact. */
export type GateOfApp<Gates> = unknown extends Gates
  ? Gate
  : { readonly [Node in keyof Gates]-?: NodeGateOf<NonNullable<Gates[Node]>> }[keyof Gates] | AskedGate;

type NodeGateOf<Declared> = Declared extends (...given: never) => infer Shown
  ? DeclaredNodeGate<Exclude<Shown, undefined>, Verdict>
  : Declared extends { readonly showCall: (...given: never) => unknown }
    ? DeclaredNodeGate<unknown, Verdict | Edited<Readonly<Record<string, unknown>>>>
    : Declared extends { readonly show: (...given: never) => infer Shown }
      ? DeclaredNodeGate<Exclude<Shown, undefined>, DeclaredAnswers<Declared>>
      : DeclaredNodeGate;

/** `{ value }` takes the place of a plain yes. */
type DeclaredAnswers<Declared> =
  | Verdict<undefined extends MemberOf<Declared, 'answer'> ? boolean : false>
  | (NonNullable<MemberOf<Declared, 'answer'>> extends infer Schema extends object
      ? Valued<InputOf<Schema>>
      : never)
  | ([NonNullable<MemberOf<Declared, 'edit'>>] extends [never] ? never : Edited<unknown>);

type MemberOf<Declared, Name extends string> = Name extends keyof Declared ? Declared[Name] : undefined;

/** The input type of a schema. */
type InputOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Input
  : unknown;

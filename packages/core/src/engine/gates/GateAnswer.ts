// The types of answers, by gate. The compiler refuses a wrong answer. `decide` checks each one again.
import type { BudgetLimits } from '../../config/budgetMeasures.ts';
import type { HitlSessionKind, Principal } from '../../state/gates/hitlSession.ts';
import type { GateComment } from './comments.ts';
import type { Gate } from './Gate.ts';

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

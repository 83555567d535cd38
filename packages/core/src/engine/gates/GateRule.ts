import type * as z from 'zod';
import { DevsError } from '../../errors/DevsError.ts';
import type { Masked } from '../../masking/MaskRule.ts';
import type { HitlSession, HitlSessionKind, Principal } from '../../state/hitlSession.ts';
import type { QuotableSections } from './quotes.ts';

/**
 * All that is fixed about one kind of gate. A new kind is three places: its name in `HitlSessionKind`, its rule in the
 * table of the layer that asks it, and its words on the command line. Its schemas are made when an answer is parsed.
 */
export interface GateRule<Recorded extends z.ZodType = z.ZodType> {
  /** What a decider sends. */
  readonly given: () => z.ZodType;
  /** What the node gets: what was given, and who gave it when. */
  readonly recorded: () => Recorded;
  /**
   * A human's own version of what is shown, for kinds that take one instead of a decision. Apart from `given`, because a
   * union would not name the field that is wrong.
   */
  readonly edit?: () => z.ZodType;
  /** Other forms of an answer, each under the member that tells it from `given`. */
  readonly forms?: Readonly<Record<string, () => z.ZodType>>;
  /** The answers in words, for whoever sent another one. */
  readonly shape: string;
  /**
   * The name a run declares a policy for such gates by. `null` for a guard: it asks because something went wrong, and
   * nothing declared beforehand may answer it.
   */
  readonly policyName: string | null;
  /** Refuses an answer of the right form that this session cannot take, before it is recorded. */
  readonly assertFits?: (answer: object, session: HitlSession, by: Principal) => void;
  /** The texts that may be quoted in comments on what is shown. @defaultValue none */
  readonly places?: QuotableSections;
  /** An answer without the secrets in it, which is then what is recorded. @defaultValue all of it is recorded */
  readonly scrub?: (answer: object) => Masked<object>;
  /** What is recorded of an answer, where that is more than was given. */
  readonly toRecord?: (answer: object) => object;
}

/** The rules of every kind of gate that a graph asks: the only list of kinds there is. */
export type GateRules = { readonly [Kind in HitlSessionKind]?: GateRule };

/** An answer as its node gets it. */
export type AnswerTo<Rule extends GateRule> = Readonly<z.infer<ReturnType<Rule['recorded']>>>;

/** @throws DevsError `INVALID_ANSWER` for a kind that these rules do not have. */
export function ruleOf(rules: GateRules, kind: HitlSessionKind): GateRule {
  const rule = rules[kind];
  if (rule !== undefined) return rule;
  throw new DevsError(`This program has no gates of kind ${kind}.`, {
    code: 'INVALID_ANSWER',
    remedy: 'Decide the gate with the program that opened it.',
    context: { kind },
  });
}

export function isKindOf(rules: GateRules, value: unknown): value is HitlSessionKind {
  return typeof value === 'string' && Object.hasOwn(rules, value);
}

import { DevsError } from '../../errors/DevsError.ts';
import { canonicalJson, sha256Hex } from '../../values/canonicalJson.ts';

/** Which step: LangGraph's task id is the same over resume, retry and crash, and another one after a rewind. */
export interface StepKey {
  readonly threadId: string;
  /** Of a step in a subgraph or a tool: the id of the visit, then, behind slashes, its place inside. */
  readonly lgTaskId: string;
  readonly name: string;
}

/** Milliseconds since the Unix epoch, UTC: when the last attempt began, and when it had its result. */
export interface StepTimes {
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** Whether a step was begun in this visit, in whatever place inside. */
export function isOfExecution({ lgTaskId }: Pick<StepKey, 'lgTaskId'>, visitId: string): boolean {
  return lgTaskId === visitId || lgTaskId.startsWith(`${visitId}/`);
}

/** A `call` is counted and checked against budgets: it may cost money. `work` is only recorded. */
export type StepKind = 'call' | 'work';

export interface NewStep extends StepKey {
  readonly node: string;
  /** The pipeline's task; `null` outside one. */
  readonly taskId: string | null;
  /** @defaultValue 'call' */
  readonly kind?: StepKind;
  /** What it may cost, held back until it has ended. @defaultValue nothing */
  readonly reserve?: Reserve;
}

/** What a call may cost. */
export interface Reserve {
  /** US dollars. */
  readonly usd: number;
  /** In and out together. */
  readonly tokens: number;
}

/** A visit LangGraph names anew, and the node it is a visit of now. */
export interface RenamedExecution {
  readonly threadId: string;
  readonly visitId: string;
  readonly toVisitId: string;
  readonly node: string;
}

/** The visit, and the thread and namespace in which the graphs inside it keep their checkpoints. */
export interface UnfinishedInside {
  readonly threadId: string;
  readonly visitId: string;
  readonly frame: string;
  readonly checkpointNs: string;
}

/** What a step's calls cost. An absent figure is unknown. */
export interface StepUsage {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** US dollars. */
  readonly costUsd?: number;
  /** Reports whose cost is unknown. */
  readonly unpriced?: number;
  /** Requests to models. */
  readonly requests?: number;
}

export type StepOnRecord =
  /** Begun `attempt` times; how the last one ended is unknown (`intent`), or it threw (`failed`). */
  | {
      readonly state: 'intent' | 'failed';
      readonly attempt: number;
      /** Its result could not be stored. */
      readonly refused?: Refusal;
    }
  | {
      readonly state: 'done';
      readonly attempt: number;
      /** Plain JSON, or `undefined` where the step returned nothing; with `codec` what it was encoded as. */
      readonly result: unknown;
      readonly codec?: string;
      readonly usage: StepUsage;
      /** Milliseconds since the Unix epoch, UTC. */
      readonly finishedAt: number;
    };

/** A step without its result, for lists. */
export interface StepSummary extends Omit<NewStep, 'reserve' | 'kind'> {
  readonly kind: StepKind;
  readonly state: 'intent' | 'failed' | 'done';
  readonly attempt: number;
  readonly usage: StepUsage;
  /** Of every attempt that has ended, at least one for each. */
  readonly requests: number;
  /** Milliseconds since the Unix epoch, UTC: begin of the last attempt. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** What the state file says of a result that is encoded by the port below; one that is plain JSON says nothing. */
export const ENCODED = 'strict';

/** What it says of a step whose result could not be stored: the result is then a {@link Refusal}. */
export const REFUSED = 'refused';

/** Why the result of a call that was made is not on record. Masked. */
export interface Refusal {
  readonly code: 'VALUE_NOT_STORABLE' | 'VALUE_TOO_LARGE';
  readonly message: string;
}

/** Of rows that say only that there was a refusal. */
const UNKNOWN_REFUSAL: Refusal = { code: 'VALUE_NOT_STORABLE', message: 'Its call was made.' };

/** A row that is damaged stays one: without its words, nobody makes the call again either. */
export function readRefusal(json: string | null, sha256: string | null): Refusal {
  if (json === null || StepResult.sha256(json, REFUSED) !== sha256) return UNKNOWN_REFUSAL;
  return JSON.parse(json) as Refusal;
}

/** Between results that are more than JSON and a text of JSON. This layer knows none of their classes. */
export interface ResultCodec {
  /** @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`, naming the place. */
  encode(value: unknown): Promise<string>;
  decode(text: string): Promise<unknown>;
}

/** A result as it lies in the file. `json` is `null` for `undefined`. */
export class StepResult {
  readonly json: string | null;
  readonly codec: typeof ENCODED | null;

  private constructor(json: string | null, codec: typeof ENCODED | null) {
    this.json = json;
    this.codec = codec;
  }

  /** @throws DevsError `VALUE_NOT_STORABLE` for what is no plain JSON. */
  static plain(value: unknown): StepResult {
    return new StepResult(value === undefined ? null : canonicalJson(value), null);
  }

  static encoded(json: string): StepResult {
    return new StepResult(json, ENCODED);
  }

  /** Hex; `null` where there is no text. A changed name of the encoding is damage, too. */
  static sha256(json: string | null, codec: string | null): string | null {
    if (json === null) return null;
    return sha256Hex(codec === null ? json : `${codec}:${json}`);
  }
}

/** A result whose bits changed in the file must not be replayed as what a call answered. */
export function damagedResult({
  threadId,
  name,
}: {
  readonly threadId: string;
  readonly name: string;
}): DevsError {
  return new DevsError(`The recorded result of step "${name}" of run "${threadId}" is damaged.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Restore the state file from a backup, or delete this row of agent_steps to repeat the call.',
    context: { threadId, name },
  });
}

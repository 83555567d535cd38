import { DevsError } from '../errors/DevsError.ts';
import { canonicalJson, sha256Hex } from './canonicalJson.ts';

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

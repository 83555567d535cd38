/** What a model server is started with; its first argument, as JSON. */
export interface ModelServerOptions {
  /** Folder of the call logs, one `<run>.log` per run. */
  readonly logs: string;
  /** Time before each chunk of an answer, ms. */
  readonly chunkMs: { readonly min: number; readonly max: number };
  readonly seed: number;
}

/** A line of a call log, written before the call is answered. */
export interface LoggedCall {
  readonly method: string;
  readonly what: string;
  /** Idempotency key. */
  readonly key: string;
  /** Of the request's body. */
  readonly bytes: number;
}

export const KEY_HEADER = 'idempotency-key';

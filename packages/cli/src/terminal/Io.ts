/** Where text goes. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal, in characters. */
  readonly columns?: number;
  /** Height of the terminal, in lines. */
  readonly rows?: number;
}

/** What the command may touch of its process. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborting it asks a run to stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Aborting it ends the calls in flight too. */
  readonly abort?: AbortSignal;
  /** For who ends what is in flight in a time of their own: SIGTERM does not, then. */
  readonly drainsAlone?: () => void;
}

/** A stream for text. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  /** Width of the terminal, in characters. */
  readonly columns?: number;
  /** Height of the terminal, in lines. */
  readonly rows?: number;
}

/** The parts of its process that the command uses. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Abort it to pause a run at its next safe point. */
  readonly signal: AbortSignal;
  /** Abort it to end the calls in flight too. */
  readonly abort?: AbortSignal;
  /** Called by a command that ends its calls on its own schedule, so that SIGTERM does not. */
  readonly drainsAlone?: () => void;
  /** The process ends with this command. */
  readonly isWholeProcess?: true;
}

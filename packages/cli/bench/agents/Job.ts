/** One edit: a passage that is replaced, or a new file. */
export type Change =
  | { readonly path: string; readonly find: string; readonly replace: string }
  | { readonly path: string; readonly content: string };

/** Sources of a repository as its owner has them. */
export interface Source {
  /** On GitHub: `unjs/ufo`. */
  readonly repository: string;
  /** Pins the files by their content. */
  readonly commit: string;
  /** Packages that its checks need, with exact versions. */
  readonly tools: Readonly<Record<string, string>>;
  readonly checks: readonly { readonly name: string; readonly argv: readonly [string, ...string[]] }[];
}

/** A brief from an issue, and the right work on it. */
export interface Job extends Source {
  readonly name: string;
  /** Heading, text and a list of criteria. */
  readonly brief: string;
  /** What is searched for first, and where. */
  readonly search: { readonly text: string; readonly paths: readonly string[] };
  readonly test: readonly Change[];
  readonly code: readonly Change[];
  readonly docs: readonly Change[];
  /** Message of the commit. */
  readonly message: string;
  /** A test of the behaviour that no agent has seen. */
  readonly hidden: {
    readonly path: string;
    readonly content: string;
    readonly argv: readonly [string, ...string[]];
  };
}

/** What a turn's tests said. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** Names of the failing tests, where they are known. */
  readonly failing?: readonly string[];
}

/**
 * One turn of an agent, as the entropy score reads it: what it did and what came back. Everything but `action` is
 * optional; a part of the score that needs what is missing says nothing. Plain JSON.
 */
export interface AgentAction {
  /** What was done, with its arguments: `npm test`, `edit src/a.ts +3 -1`, `message`. */
  readonly action: string;
  /** The tool that did it; absent where the agent only spoke. */
  readonly tool?: string;
  /** What came back. */
  readonly output?: string;
  /** Stands for an output that is not at hand: equal hashes are equal outputs. */
  readonly outputHash?: string;
  /** The message it failed with. */
  readonly error?: string;
  readonly tests?: TestCounts;
  /** Names the content of the workspace after the turn: a git tree, a hash. Equal names are equal files. */
  readonly tree?: string;
}

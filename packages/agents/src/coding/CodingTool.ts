import type { AgentCall } from '@devs/core';
import type { ModelStage } from '../models/loadPrompts.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';

/** A coding CLI. */
export interface CodingProgram {
  /** Name, shown with the run. */
  readonly name: string;
  /** Program and arguments, executed without a shell. */
  readonly argv: readonly string[];
  /** Names of visible environment variables, its key included. @defaultValue none */
  readonly env?: readonly string[];
  /** Files below your home that are copied into its own home, for its login. @defaultValue none */
  readonly home?: readonly string[];
  /** Set to false for a program without network access; a sandbox then blocks it. @defaultValue true */
  readonly network?: boolean;
  /** The command to install it. */
  readonly install?: string;
}

export interface CodingLimits {
  /** What confines it; `null`: on purpose nothing. */
  readonly sandbox: Sandbox | null;
  /** Time limit, ms: of a stage, or of a call where every prompt is one. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** Time it has to end by itself once it was told to, ms. */
  readonly graceMs: number;
}

/** The folder a coding CLI works in; another place is another process. */
export interface CodingPlace {
  /** `null` gives it an empty one. */
  readonly dir: string | null;
  /** Its stage changes no file. */
  readonly readOnly: boolean;
}

export interface CodingStage extends CodingPlace {
  readonly stage: ModelStage;
}

/** Says something to it; what was said before in the same stage is known to it. */
export type AskTool = (words: string) => Promise<string>;

/** How an installed coding CLI is reached. */
export interface CodingTool {
  readonly name: string;
  /**
   * Does one stage: `work` asks as often as it has to. What it says it cost is reported, also when it failed.
   *
   * @throws DevsError `AGENT_FAILED` when it cannot be started, fails or takes too long.
   * @throws DevsError `AGENT_INVALID_OUTPUT` when it answers with nothing that can be used.
   * @throws the reason of the call's signal when aborted, once it and what it started are gone.
   */
  converse<Result>(
    stage: CodingStage,
    call: AgentCall,
    work: (ask: AskTool) => Promise<Result>,
  ): Promise<Result>;
  /** Ends what it keeps running. */
  close?(): Promise<void>;
}

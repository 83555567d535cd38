// Coding CLIs: how one is reached, and its faults.

import { type AgentCall, DevsError } from '@devs/core';
import { maskStart } from '@devs/core/internal';
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
  /** More variables, with their values. @defaultValue none */
  readonly variables?: Readonly<Record<string, string>>;
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
  /** The conversation and the stage before it; absent for a stage of its own. */
  readonly talk?: { readonly id: string; readonly after: ModelStage | null };
}

/** Sends it a text; it remembers the earlier texts of the same stage. */
export type AskTool = (words: string) => Promise<string>;

/** @param isContinued - The tool remembers the stage before. */
export type StageWork<Result> = (ask: AskTool, isContinued: boolean) => Promise<Result>;

/** How an installed coding CLI is reached. */
export interface CodingTool {
  readonly name: string;
  /** Which figures of its calls it reports; `undefined` where that is not known. */
  readonly reports:
    | { readonly tokens: boolean; readonly cost: boolean; readonly undeclared?: true }
    | undefined;
  /**
   * Does one stage: `work` asks as often as it has to. What it says it cost is reported, also when it failed.
   *
   * @throws DevsError `AGENT_FAILED` when it cannot be started, fails or takes too long.
   * @throws DevsError `AGENT_INVALID_OUTPUT` when its answer cannot be used.
   * @throws the reason of the call's signal when aborted, once it and what it started are gone.
   */
  converse<Result>(stage: CodingStage, call: AgentCall, work: StageWork<Result>): Promise<Result>;
  /** Ends what it keeps running. */
  close?(): Promise<void>;
}

/** Characters of an agent's own words in an error. */
const SHOWN = 2_000;

/** Words of an agent's as an error may have them: masked, from their beginning. */
export const maskedExcerpt = (text: string): string => maskStart(text, SHOWN).trim();

/** An agent that could not be asked. @param what - For people; words of its own are masked and cut. */
export function agentFault(name: string, what: string, cause?: unknown): DevsError {
  return new DevsError(`${name} ${what.trim()}`, {
    code: 'AGENT_FAILED',
    remedy: 'Run the agent once by hand to check that it is logged in, then resume the run.',
    context: { agent: name },
    cause,
  });
}

/**
 * An agent whose answer cannot be used.
 *
 * @param isCut - Its answer is empty or was cut off: the stage is worth another try.
 */
export function uselessAnswer(name: string, stage: string, problem: string, isCut = false): DevsError {
  return new DevsError(
    `${name} did not return a valid answer for the stage ${stage}: ${maskedExcerpt(problem)}`,
    {
      code: 'AGENT_INVALID_OUTPUT',
      remedy: 'Resume the run to ask again, or use a more capable agent for this stage.',
      context: { agent: name, stage, ...(isCut && { answer: 'cut' }) },
    },
  );
}

/** How a process ended. */
export const formatExit = (code: number | null): string =>
  code === null ? 'was ended by a signal' : `ended with exit code ${code}`;

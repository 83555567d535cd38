import type { AgentCall, DevsError, StageAgents } from '@devs/core';
import {
  agentFault,
  type CodingLimits,
  type CodingStage,
  type CodingTool,
  maskedExcerpt,
  type StageWork,
  uselessAnswer,
} from '../coding/CodingTool.ts';
import { type CodingAgentsOptions, codingAgents } from '../coding/codingAgents.ts';
import { InstalledTool } from '../coding/InstalledTool.ts';
import { ACP_PROGRAMS, type AcpName, type AcpProgram } from './AcpProgram.ts';
import { AcpTurn } from './AcpTurn.ts';
import type { PromptEnd } from './updates.ts';
import { WarmAgent } from './WarmAgent.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const DEFAULT_GRACE_MS = 10_000;

/** The name of a known coding CLI, or your own program that speaks the protocol. */
export type AcpSource = AcpName | AcpProgram;

export interface AcpAgentsOptions extends CodingAgentsOptions<AcpSource> {
  /** The CLI of every stage not in `perStage`. */
  readonly agent: AcpSource;
  /** Largest output of one stage in bytes; more ends it. @defaultValue 256 MiB */
  readonly maxOutputBytes?: number;
  /**
   * Time to end the turn after `session/cancel`, in milliseconds; then its process group is killed. @defaultValue 10
   * 000
   */
  readonly graceMs?: number;
}

/**
 * Creates agents that use a coding CLI through the Agent Client Protocol. The CLI edits the workspace in place, and the
 * engine takes the difference. In stages with documents, a plan or a verdict it answers with JSON; an answer of the
 * wrong shape is returned once. It reports progress (`call.onActivity`), and a policy answers its permission requests.
 *
 * A process stays alive between stages as long as the folder and the kind of work (reading, editing) are the same.
 * `close` ends it, and so does the end of this process.
 *
 * @throws DevsError `CONFIG_INVALID` if a program is not installed.
 *
 * @example
 * ```ts
 * const sandbox = await findSandbox('bwrap', { project: process.cwd() });
 * const agents = await acpAgents({ agent: 'claude', sandbox });
 * ```
 */
export function acpAgents(options: AcpAgentsOptions): Promise<StageAgents> {
  const { agent, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, graceMs = DEFAULT_GRACE_MS } = options;
  return codingAgents(agent, { ...options, maxOutputBytes, graceMs }, (source, limits) =>
    AcpTool.find(typeof source === 'string' ? ACP_PROGRAMS[source] : source, limits),
  );
}

/** An installed coding CLI that speaks the protocol: a stage is a session, and so are those of a task together. */
class AcpTool implements CodingTool {
  readonly #installed: InstalledTool<AcpProgram>;
  readonly #warm: WarmAgent;

  private constructor(installed: InstalledTool<AcpProgram>) {
    this.#installed = installed;
    this.#warm = new WarmAgent(installed);
  }

  /** @throws DevsError `CONFIG_INVALID` with what installs it, when it is not there. */
  static async find(program: AcpProgram, limits: CodingLimits): Promise<AcpTool> {
    return new AcpTool(await InstalledTool.find(program, limits));
  }

  get name(): string {
    return this.#installed.tool.name;
  }

  get reports(): CodingTool['reports'] {
    const { countsTokens, countsCost } = this.#installed.tool;
    const isKnown = countsTokens !== undefined && countsCost !== undefined;
    return {
      tokens: countsTokens === true,
      cost: countsCost === true,
      ...(!isKnown && { undeclared: true as const }),
    };
  }

  converse<Result>(asked: CodingStage, call: AgentCall, work: StageWork<Result>): Promise<Result> {
    const { dir, readOnly, stage } = asked;
    return this.#warm.use({ dir, readOnly }, call, (process, stop) => {
      const { folder } = process;
      const kept = process.keptFor(asked.talk);
      const place = { folder, confined: this.#installed.isConfined, readOnly };
      const turn = new AcpTurn(place, call.onActivity, kept?.cost);
      return process.inSession(turn, asked, stop, (prompt) => {
        const ask = async (words: string): Promise<string> => {
          const reason = await this.#counted(prompt(words), turn, call);
          const problem = stopProblem(this.name, stage, reason, turn.text);
          if (problem !== null) throw problem;
          return turn.text;
        };
        return work(ask, kept !== null);
      });
    });
  }

  close(): Promise<void> {
    return this.#warm.close();
  }

  /** Reports what a prompt cost, however it ends. @returns why it ended */
  async #counted(prompt: Promise<PromptEnd>, turn: AcpTurn, call: AgentCall): Promise<string> {
    let end: PromptEnd | null = null;
    try {
      end = await prompt;
      return end.stopReason;
    } finally {
      const { countsTokens = true } = this.#installed.tool;
      call.usage(turn.usageOf(countsTokens ? end : null));
    }
  }
}

function stopProblem(name: string, stage: string, reason: string, text: string): DevsError | null {
  switch (reason) {
    case 'end_turn':
      return null;
    case 'refusal':
      return uselessAnswer(name, stage, `it refuses. ${text.trim()}`);
    case 'max_tokens':
      return uselessAnswer(name, stage, 'it reached its token limit.', true);
    case 'max_turn_requests':
      return uselessAnswer(name, stage, 'it reached its request limit for one turn.', true);
    case 'cancelled':
      return agentFault(name, 'cancelled its turn without a request');
    default:
      return agentFault(name, `ended its turn for an unknown reason: ${maskedExcerpt(reason)}`);
  }
}

import type { AgentCall, DevsError } from '@devs/core';
import { agentFault, maskedExcerpt, uselessAnswer } from '../coding/agentFault.ts';
import type { AskTool, CodingLimits, CodingStage, CodingTool } from '../coding/CodingTool.ts';
import { InstalledTool } from '../coding/InstalledTool.ts';
import type { AcpProgram } from './AcpProgram.ts';
import { AcpTurn } from './AcpTurn.ts';
import type { PromptEnd } from './updates.ts';
import { WarmAgent } from './WarmAgent.ts';

/** An installed coding CLI that speaks the protocol: a stage is a session. */
export class AcpTool implements CodingTool {
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

  converse<Result>(
    { stage, ...place }: CodingStage,
    call: AgentCall,
    work: (ask: AskTool) => Promise<Result>,
  ): Promise<Result> {
    const { readOnly } = place;
    return this.#warm.use(place, call, (process, stop) => {
      const { folder } = process;
      const turn = new AcpTurn({ folder, confined: this.#installed.isConfined, readOnly }, call.onActivity);
      return process.inSession(turn, stop, (prompt) => {
        return work(async (words) => {
          const reason = await this.#counted(prompt(words), turn, call);
          const problem = stopProblem(this.name, stage, reason, turn.text);
          if (problem !== null) throw problem;
          return turn.text;
        });
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
      return uselessAnswer(name, stage, 'it reached its token limit.');
    case 'max_turn_requests':
      return uselessAnswer(name, stage, 'it reached its request limit for one turn.');
    case 'cancelled':
      return agentFault(name, 'cancelled its turn without a request');
    default:
      return agentFault(name, `ended its turn for an unknown reason: ${maskedExcerpt(reason)}`);
  }
}

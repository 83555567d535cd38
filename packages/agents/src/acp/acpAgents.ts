import {
  type AgentCall,
  type DevsError,
  maskSensitiveData,
  type StageAgents,
  type TaskRequest,
  type WorkResult,
} from '@devs/core';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { type CommandPrompts, commandPrompts } from '../command/commandPrompts.ts';
import { jsonAnswer } from '../command/jsonAnswer.ts';
import { liveAgents, type StageQuestion, type StageWorker } from '../models/liveAgents.ts';
import { MODEL_STAGES, type ModelStage } from '../models/loadPrompts.ts';
import { renderRequest } from '../models/renderRequest.ts';
import { TRUNCATED_MARK } from '../process/MaskedTail.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import type { AcpProgram } from './AcpProgram.ts';
import type { AgentProcess } from './AgentProcess.ts';
import { agentFault, uselessAnswer } from './agentFault.ts';
import { ACP_PROGRAMS, type AcpName } from './programs.ts';
import type { AgentLimits, AgentPlace } from './runAgent.ts';
import { Turn } from './Turn.ts';
import type { PromptEnd } from './updates.ts';
import { WarmAgent } from './WarmAgent.ts';

const DEFAULT_TIMEOUT_MS = 30 * 60_000;
const DEFAULT_MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Characters of what an agent says about its edits that are kept, from the end: the summary stands there. */
const MAX_SUMMARY = 2_000;

/** A coding CLI known by name, or a program of your own that speaks the protocol. */
export type AcpSource = AcpName | AcpProgram;

export interface AcpAgentsOptions {
  /** Of every stage that `perStage` does not name. */
  readonly agent: AcpSource;
  readonly perStage?: Readonly<Partial<Record<ModelStage, AcpSource>>>;
  /** What confines it, from `findSandbox`; `null` lets it do what you can, on purpose. */
  readonly sandbox: Sandbox | null;
  /** Version of the prompts. @defaultValue the newest */
  readonly prompts?: string;
  /** Time limit of one stage, ms. @defaultValue 1 800 000 */
  readonly timeoutMs?: number;
  /** Bytes an agent may print within one stage; more ends it. @defaultValue 256 MiB */
  readonly maxOutputBytes?: number;
}

/**
 * Agents that drive a coding CLI through the Agent Client Protocol. It edits the workspace in place, and the engine takes
 * the difference; where a stage is about documents, a plan or a verdict it answers with JSON, and an answer of the wrong
 * shape is sent back once. What it does is told as it happens (`call.onActivity`); what it asks for, a policy answers.
 *
 * A process stays warm from one stage to the next as long as the folder and the kind of work (reading, editing) are the
 * same; `close` ends it, and so does the end of this process.
 *
 * @throws DevsError `CONFIG_INVALID` when a program is not installed.
 *
 * @example
 * ```ts
 * const sandbox = await findSandbox('bwrap', { project: process.cwd() });
 * const agents = await acpAgents({ agent: 'claude', sandbox });
 * ```
 */
export async function acpAgents(options: AcpAgentsOptions): Promise<StageAgents> {
  const { agent, perStage = {} } = options;
  const limits = limitsOf(options);
  const found = new Map<AcpSource, WarmAgent>();
  for (const source of new Set([agent, ...Object.values(perStage)])) {
    const program = typeof source === 'string' ? ACP_PROGRAMS[source] : source;
    found.set(source, await WarmAgent.find(program, limits));
  }
  const agents = new Map(
    MODEL_STAGES.map((stage) => [stage, found.get(perStage[stage] ?? agent) as WarmAgent]),
  );
  const prompts = commandPrompts(options.prompts);
  const worker = new AcpWorker(agents, prompts);
  const close = async (): Promise<void> => {
    await Promise.all([...found.values()].map((each) => each.close()));
  };
  return { ...liveAgents(worker, { workers: agents.values(), prompts }), close };
}

function limitsOf({ sandbox, ...options }: AcpAgentsOptions): AgentLimits {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  assertPositiveInteger('timeoutMs', timeoutMs);
  assertPositiveInteger('maxOutputBytes', maxOutputBytes);
  return { sandbox, timeoutMs, maxOutputBytes };
}

class AcpWorker implements StageWorker {
  readonly #agents: ReadonlyMap<ModelStage, WarmAgent>;
  readonly #prompts: CommandPrompts;

  constructor(agents: ReadonlyMap<ModelStage, WarmAgent>, prompts: CommandPrompts) {
    this.#agents = agents;
    this.#prompts = prompts;
  }

  edit(stage: ModelStage, request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    const prompt = this.#prompts.forEdit(stage, renderRequest(request));
    const place = { dir: request.workspace.dir, readOnly: false };
    return this.#converse(stage, place, call, async (ask) => {
      // No files: the engine takes what lies in the folder.
      return { summary: summaryOf((await ask(prompt)).trim()), files: [] };
    });
  }

  /** It sees the folder itself; the engine puts back what is changed there. */
  answer<Answer>({ stage, request, answer }: StageQuestion<Answer>, call: AgentCall): Promise<Answer> {
    const dir = 'workspace' in request ? (request.workspace?.dir ?? null) : null;
    const prompt = this.#prompts.forAnswer(stage, renderRequest(request), answer.schema);
    return this.#converse(stage, { dir, readOnly: true }, call, async (ask) => {
      const first = jsonAnswer(await ask(prompt), answer.schema);
      if ('value' in first) return first.value;
      const second = jsonAnswer(await ask(repairWords(first.problem)), answer.schema);
      if ('value' in second) return second.value;
      throw uselessAnswer(this.#agent(stage).program, stage, maskSensitiveData(second.problem));
    });
  }

  #converse<Result>(
    stage: ModelStage,
    place: AgentPlace,
    call: AgentCall,
    work: (ask: (prompt: string) => Promise<string>) => Promise<Result>,
  ): Promise<Result> {
    const agent = this.#agent(stage);
    return agent.use(place, call, (process, stop) => {
      const { folder } = process;
      const turn = new Turn(
        { folder, confined: agent.isConfined, readOnly: place.readOnly },
        call.onActivity,
      );
      return process.inSession(turn, stop, (prompt) => {
        return work((text) => {
          return this.#ask({ stage, agent, turn, prompt: () => prompt(text) }, call);
        });
      });
    });
  }

  async #ask({ stage, agent, turn, prompt }: Prompt, call: AgentCall): Promise<string> {
    turn.begin();
    let end: PromptEnd | null = null;
    try {
      end = await prompt();
    } finally {
      const { countsTokens = true } = agent.program;
      call.usage(turn.usageOf(countsTokens ? end : null));
    }
    const problem = stopProblem(agent.program, stage, end.stopReason, turn.text);
    if (problem !== null) throw problem;
    return turn.text;
  }

  #agent(stage: ModelStage): WarmAgent {
    return this.#agents.get(stage) as WarmAgent;
  }
}

/** One prompt of a stage. */
interface Prompt {
  readonly stage: ModelStage;
  readonly agent: WarmAgent;
  readonly turn: Turn;
  readonly prompt: () => ReturnType<Parameters<Parameters<AgentProcess['inSession']>[2]>[0]>;
}

function stopProblem(program: AcpProgram, stage: string, reason: string, text: string): DevsError | null {
  switch (reason) {
    case 'end_turn':
      return null;
    case 'refusal':
      return uselessAnswer(program, stage, `it refuses. ${text.trim()}`);
    case 'max_tokens':
      return uselessAnswer(program, stage, 'it came to the most tokens it may write.');
    case 'max_turn_requests':
      return uselessAnswer(program, stage, 'it came to the most requests it may make in a turn.');
    case 'cancelled':
      return agentFault(program, 'ended its turn as cancelled, and nobody had cancelled it');
    default:
      return agentFault(program, `ended its turn for a reason nobody knows: ${reason}`);
  }
}

const summaryOf = (text: string): string =>
  text.length <= MAX_SUMMARY ? text : `${TRUNCATED_MARK}\n${text.slice(-MAX_SUMMARY)}`;

const repairWords = (problem: string): string =>
  `Your last answer could not be used: ${problem}\nAnswer again, whole: one JSON object in a block fenced with \`\`\`json.`;

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentCall, DevsError, StageAgents } from '@devs/core';
import {
  agentFault,
  type CodingLimits,
  type CodingStage,
  type CodingTool,
  formatExit,
  maskedExcerpt,
  type StageWork,
} from '../coding/CodingTool.ts';
import { type CodingAgentsOptions, codingAgents } from '../coding/codingAgents.ts';
import { InstalledTool, type Launch } from '../coding/InstalledTool.ts';
import { cutMiddle } from '../models/History.ts';
import { MaskedTail, TailBuffer, TRUNCATED_MARK } from '../process/MaskedTail.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';
import { type Scratch, withScratch } from '../process/scratch.ts';
import { type CommandRecipe, type CommandReply, RECIPES, type RecipeName } from './CommandRecipe.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const DEFAULT_GRACE_MS = 2_000;

/** The name of a known coding CLI, or your own. */
export type CommandSource = RecipeName | CommandRecipe;

export interface CommandAgentsOptions extends CodingAgentsOptions<CommandSource> {
  /** The CLI of every stage not in `perStage`. */
  readonly command: CommandSource;
  /** Longest call, in milliseconds. @defaultValue 1 800 000 */
  readonly timeoutMs?: number;
  /** Bytes of output to read, from its end. @defaultValue 4 MiB */
  readonly maxOutputBytes?: number;
  /** Time to end after SIGTERM, in milliseconds; then its process group is killed. @defaultValue 2 000 */
  readonly graceMs?: number;
}

/**
 * Creates agents that call an installed coding CLI without a protocol (see `acpAgents` for those with one). The CLI
 * edits the workspace in place, and the engine takes the difference. In stages with documents, a plan or a verdict it
 * answers with JSON; an answer of the wrong shape is returned once.
 *
 * It has a network unless its recipe disables it, and sees only the variables and files of its recipe. Its output is
 * reported as it arrives (`call.onActivity`).
 *
 * @throws DevsError `CONFIG_INVALID` if a program is not installed.
 *
 * @example
 * ```ts
 * const sandbox = await findSandbox('bwrap', { project: process.cwd() });
 * const agents = await commandAgents({ command: 'aider', sandbox });
 * ```
 */
export function commandAgents(options: CommandAgentsOptions): Promise<StageAgents> {
  const { command, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, graceMs = DEFAULT_GRACE_MS } = options;
  return codingAgents(command, { ...options, maxOutputBytes, graceMs }, (source, limits) =>
    CommandLine.find(typeof source === 'string' ? RECIPES[source] : source, limits),
  );
}

/** Bytes of output shown in an error, from its end. */
const SHOWN_BYTES = 2_000;

/** Characters of a wrong answer that are repeated beside the problem. */
const MAX_REPEATED = 32 * 1024;

interface CommandPrompt {
  readonly prompt: string;
  readonly dir: string | null;
}

/** All that it printed is its answer. */
const textReply = (stdout: string): CommandReply => ({ text: stdout, usage: {}, problem: null });

/** What it printed, and what of it stands in an error: it may hold anything. */
interface CommandOutput {
  readonly stdout: TailBuffer;
  readonly shown: MaskedTail;
}

/** An installed coding CLI that is called once for every prompt, in an environment, home and temporary folder of its own. */
class CommandLine implements CodingTool {
  readonly #installed: InstalledTool<CommandRecipe>;

  private constructor(installed: InstalledTool<CommandRecipe>) {
    this.#installed = installed;
  }

  /** @throws DevsError `CONFIG_INVALID` when the program is not installed. */
  static async find(recipe: CommandRecipe, limits: CodingLimits): Promise<CommandLine> {
    return new CommandLine(await InstalledTool.find(recipe, limits));
  }

  get name(): string {
    return this.#installed.tool.name;
  }

  /** Without a reader, all that it prints is its answer. */
  get reports(): CodingTool['reports'] {
    return this.#installed.tool.read === undefined ? { tokens: false, cost: false } : undefined;
  }

  /** A call knows nothing of the one before: what was said is said again. */
  converse<Result>({ dir }: CodingStage, call: AgentCall, work: StageWork<Result>): Promise<Result> {
    const before: string[] = [];
    return work(async (words) => {
      const { text } = await this.#call({ prompt: [...before, words].join('\n\n'), dir }, call);
      const said = cutMiddle(text.trim(), MAX_REPEATED);
      before.push(words, `<your_last_answer>\n${said}\n</your_last_answer>`);
      return text;
    }, false);
  }

  async #call(prompt: CommandPrompt, call: AgentCall): Promise<CommandReply> {
    call.signal.throwIfAborted();
    const { limits, tool } = this.#installed;
    const output: CommandOutput = {
      stdout: new TailBuffer(limits.maxOutputBytes),
      shown: new MaskedTail(SHOWN_BYTES),
    };
    const end = await withScratch('devs-agent-', (scratch) => this.#run(prompt, call, { scratch, output }));
    call.signal.throwIfAborted();
    const { read = textReply } = tool;
    const stdout = wholeOrMarked(output.stdout);
    const reply = read(stdout);
    call.usage(reply.usage);
    if (Object.keys(reply.usage).length > 0) call.onActivity?.({ kind: 'usage', usage: reply.usage });
    if (end.stoppedBy === 'timeout') throw this.#failed(`was stopped after ${limits.timeoutMs} ms`);
    const problem = reply.problem === null ? null : maskedExcerpt(reply.problem);
    if (end.exitCode !== 0) {
      const why = stdout.trim() === '' ? null : problem;
      throw this.#failed(`${formatExit(end.exitCode)}: ${why ?? output.shown}`);
    }
    if (problem !== null) throw this.#failed(`failed: ${problem}`);
    return reply;
  }

  async #run(
    { prompt, dir }: CommandPrompt,
    { signal, onActivity = () => undefined }: AgentCall,
    {
      scratch,
      output: { stdout, shown: shownTail },
    }: { readonly scratch: Scratch; readonly output: CommandOutput },
  ): Promise<ProcessEnd> {
    const { timeoutMs, graceMs } = this.#installed.limits;
    const promptFile = join(scratch.dir, 'prompt.md');
    const [launch] = await Promise.all([
      this.#launch(dir, scratch, promptFile),
      writeFile(promptFile, prompt),
    ]);
    const decoders = { out: new TextDecoder(), err: new TextDecoder() };
    const tell = (stream: keyof typeof decoders, chunk: Buffer): void => {
      shownTail.push(chunk);
      onActivity({ kind: 'output', text: decoders[stream].decode(chunk, { stream: true }) });
    };
    try {
      return await runProcess({
        ...launch,
        timeoutMs,
        graceMs,
        signal,
        stdin: prompt,
        onStdout: (chunk) => {
          stdout.push(chunk);
          tell('out', chunk);
        },
        onStderr: (chunk) => tell('err', chunk),
      });
    } catch (error) {
      throw this.#failed(`could not be started: ${(error as Error).message}`, error);
    }
  }

  #launch(dir: string | null, scratch: Scratch, promptFile: string): Promise<Launch> {
    const { tool, isConfined } = this.#installed;
    const { argv, argvInSandbox = argv } = tool;
    const [, ...args] = isConfined ? argvInSandbox : argv;
    const filled = args.map((argument) => argument.replace('{promptFile}', promptFile));
    return this.#installed.launch(dir, filled, scratch);
  }

  #failed(what: string, cause?: unknown): DevsError {
    return agentFault(this.name, what, cause);
  }
}

const wholeOrMarked = (output: TailBuffer): string =>
  `${output.truncated ? `${TRUNCATED_MARK}\n` : ''}${output}`;

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentCall, DevsError } from '@devs/core';
import { agentFault, formatExit, maskedExcerpt } from '../coding/agentFault.ts';
import type { AskTool, CodingLimits, CodingStage, CodingTool } from '../coding/CodingTool.ts';
import { InstalledTool, type Launch } from '../coding/InstalledTool.ts';
import { MaskedTail, TRUNCATED_MARK } from '../process/MaskedTail.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';
import { TailBuffer } from '../process/TailBuffer.ts';
import { type Scratch, withScratch } from '../process/withScratch.ts';
import type { CommandRecipe, CommandReply } from './CommandRecipe.ts';

/** Bytes of output shown in an error, from its end. */
const SHOWN_BYTES = 2_000;

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
export class CommandLine implements CodingTool {
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

  /** A call knows nothing of the one before: what was said is said again. */
  converse<Result>(
    { dir }: CodingStage,
    call: AgentCall,
    work: (ask: AskTool) => Promise<Result>,
  ): Promise<Result> {
    const before: string[] = [];
    return work(async (words) => {
      const { text } = await this.#call({ prompt: [...before, words].join('\n\n'), dir }, call);
      before.push(words, `<your_last_answer>\n${text.trim()}\n</your_last_answer>`);
      return text;
    });
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

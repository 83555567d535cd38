import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentCall, DevsError, maskSensitiveData } from '@devs/core';
import { commandEnvironment } from '../process/commandEnvironment.ts';
import { MaskedTail, TRUNCATED_MARK } from '../process/MaskedTail.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';
import { TailBuffer } from '../process/TailBuffer.ts';
import { type Scratch, withScratch } from '../process/withScratch.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import { copyLogin, NETWORK_ENV } from './agentHome.ts';
import type { CommandRecipe, CommandReply } from './CommandRecipe.ts';
import { findProgram, type Program } from './findProgram.ts';

/** Bytes of output shown in an error, from its end. */
const SHOWN_BYTES = 2_000;

export interface CommandLimits {
  /** What confines the command; `null`: on purpose nothing. */
  readonly sandbox: Sandbox | null;
  /** Time limit of one call, ms. */
  readonly timeoutMs: number;
  /** Bytes of output read, from its end. */
  readonly maxOutputBytes: number;
}

export interface CommandPrompt {
  readonly prompt: string;
  /** The folder it works in; `null` gives it an empty one. */
  readonly dir: string | null;
}

/** All that it printed is its answer. */
const textReply = (stdout: string): CommandReply => ({ text: stdout, usage: {}, problem: null });

/** What stands in an error about output that may hold anything. */
interface Output {
  readonly stdout: TailBuffer;
  readonly shown: MaskedTail;
}

/** An installed coding CLI, ready to be called. */
export class CommandLine {
  readonly #recipe: CommandRecipe;
  readonly #program: Program;
  readonly #limits: CommandLimits;

  private constructor(recipe: CommandRecipe, program: Program, limits: CommandLimits) {
    this.#recipe = recipe;
    this.#program = program;
    this.#limits = limits;
  }

  /** @throws DevsError `CONFIG_INVALID` when the program is not installed. */
  static async find(recipe: CommandRecipe, limits: CommandLimits): Promise<CommandLine> {
    const [name] = recipe.argv;
    if (name === undefined || name === '') throw new TypeError('Expected argv to name a command, got none.');
    return new CommandLine(recipe, await findProgram(name), limits);
  }

  get name(): string {
    return this.#recipe.name;
  }

  /**
   * Calls it once, in an environment, home and temporary folder of its own. What it says it cost is reported, also
   * when it failed.
   *
   * @throws DevsError `AGENT_FAILED` when it cannot be started, fails or takes too long.
   * @throws the signal's reason when aborted, once the command and what it started are gone.
   */
  async call(prompt: CommandPrompt, call: AgentCall): Promise<CommandReply> {
    call.signal.throwIfAborted();
    const output: Output = {
      stdout: new TailBuffer(this.#limits.maxOutputBytes),
      shown: new MaskedTail(SHOWN_BYTES),
    };
    const end = await withScratch('devs-agent-', (scratch) => this.#run(prompt, call, { scratch, output }));
    call.signal.throwIfAborted();
    const { read = textReply } = this.#recipe;
    const stdout = wholeOrMarked(output.stdout);
    const reply = read(stdout);
    call.usage(reply.usage);
    if (Object.keys(reply.usage).length > 0) call.onActivity?.({ kind: 'usage', usage: reply.usage });
    if (end.stoppedBy === 'timeout') throw this.#failed(`was stopped after ${this.#limits.timeoutMs} ms`);
    const problem = reply.problem === null ? null : maskSensitiveData(reply.problem).slice(0, SHOWN_BYTES);
    if (end.exitCode !== 0) {
      const why = stdout.trim() === '' ? null : problem;
      throw this.#failed(`${exitWords(end)}: ${why ?? output.shown}`);
    }
    if (problem !== null) throw this.#failed(`failed: ${problem}`);
    return reply;
  }

  async #run(
    { prompt, dir }: CommandPrompt,
    { signal, onActivity = () => undefined }: AgentCall,
    { scratch, output: { stdout, shown } }: { readonly scratch: Scratch; readonly output: Output },
  ): Promise<ProcessEnd> {
    const workspace = dir ?? join(scratch.dir, 'work');
    const promptFile = join(scratch.dir, 'prompt.md');
    await Promise.all([
      mkdir(workspace, { recursive: true }),
      writeFile(promptFile, prompt),
      copyLogin(scratch.home, this.#recipe.home ?? []),
    ]);
    const decoders = { out: new TextDecoder(), err: new TextDecoder() };
    const tell = (stream: keyof typeof decoders, chunk: Buffer): void => {
      shown.push(chunk);
      onActivity({ kind: 'output', text: decoders[stream].decode(chunk, { stream: true }) });
    };
    try {
      return await runProcess({
        argv: this.#argv(workspace, scratch, promptFile),
        cwd: workspace,
        env: commandEnvironment(scratch, [...NETWORK_ENV, ...(this.#recipe.env ?? [])]),
        timeoutMs: this.#limits.timeoutMs,
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

  #argv(workspace: string, { dir: scratch }: Scratch, promptFile: string): readonly string[] {
    const { file, folder } = this.#program;
    const { sandbox } = this.#limits;
    const { argv, argvInSandbox = argv, network = true } = this.#recipe;
    const place = { workspace, dir: workspace, scratch, network, readable: [folder, file] };
    const [, ...args] = sandbox === null ? argv : argvInSandbox;
    const filled = args.map((argument) => argument.replace('{promptFile}', promptFile));
    return [...(sandbox?.prefix(place) ?? []), file, ...filled];
  }

  #failed(what: string, cause?: unknown): DevsError {
    return new DevsError(`${this.name} ${what.trim()}`, {
      code: 'AGENT_FAILED',
      remedy: 'Call it once by hand to see that it is logged in and answers, then resume the run.',
      context: { command: this.name },
      cause,
    });
  }
}

const wholeOrMarked = (output: TailBuffer): string =>
  `${output.truncated ? `${TRUNCATED_MARK}\n` : ''}${output}`;

function exitWords({ exitCode }: ProcessEnd): string {
  return exitCode === null ? 'was ended by a signal' : `ended with exit code ${exitCode}`;
}

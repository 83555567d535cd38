import type { AgentCall, DevsError } from '@devs/core';
import { findProgram } from '../command/findProgram.ts';
import type { AcpProgram } from './AcpProgram.ts';
import { AgentProcess } from './AgentProcess.ts';
import { agentFault } from './agentFault.ts';
import { missingAgent } from './missingAgent.ts';
import type { AgentLimits, AgentPlace, InstalledAgent } from './runAgent.ts';
import { stopSignal } from './stopSignal.ts';

/** How long it stays warm while nobody asks it, ms. */
const IDLE_MS = 60_000;

/** An installed agent, of which at most one idle process is kept. */
export class WarmAgent {
  readonly #installed: InstalledAgent;
  #idle: AgentProcess | null = null;
  #timer: NodeJS.Timeout | undefined;

  private constructor(installed: InstalledAgent) {
    this.#installed = installed;
  }

  /** @throws DevsError `CONFIG_INVALID` with what installs it, when it is not there. */
  static async find(agent: AcpProgram, limits: AgentLimits): Promise<WarmAgent> {
    const [name] = agent.argv;
    if (name === undefined || name === '') throw new TypeError('Expected argv to name a command, got none.');
    const program = await findProgram(name).catch((error: unknown) => {
      throw missingAgent(agent, error);
    });
    return new WarmAgent({ agent, program, limits });
  }

  get program(): AcpProgram {
    return this.#installed.agent;
  }

  get name(): string {
    return this.program.name;
  }

  get isConfined(): boolean {
    return this.#installed.limits.sandbox !== null;
  }

  /**
   * Hands the process that is warm for the place, or a new one, to `work`; it is kept when that succeeds, and ended
   * when not.
   */
  async use<Result>(
    place: AgentPlace,
    call: AgentCall,
    work: (process: AgentProcess, stop: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    call.signal.throwIfAborted();
    const { timeoutMs } = this.#installed.limits;
    const late = (): DevsError => agentFault(this.program, `was stopped after ${timeoutMs} ms`);
    const { stop, clear } = stopSignal(call, timeoutMs, late);
    try {
      const process = await this.#take(place, stop);
      return await this.#lent(process, () => work(process, stop));
    } finally {
      clear();
    }
  }

  /** Ends what is idle; the next use starts anew. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const idle = this.#idle;
    this.#idle = null;
    await idle?.end();
  }

  async #take(place: AgentPlace, stop: AbortSignal): Promise<AgentProcess> {
    const idle = this.#idle;
    if (idle === null || !isFor(idle, place)) {
      await this.close();
      return AgentProcess.start(this.#installed, place, stop);
    }
    clearTimeout(this.#timer);
    this.#idle = null;
    idle.hold(true);
    return idle;
  }

  async #lent<Result>(process: AgentProcess, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      await this.#keep(process);
      return result;
    } catch (error) {
      await process.end();
      throw error;
    }
  }

  async #keep(process: AgentProcess): Promise<void> {
    if (!process.isUsable || this.#idle !== null || process.place.dir === null) return process.end();
    process.hold(false);
    this.#idle = process;
    this.#timer = setTimeout(() => void this.close(), IDLE_MS).unref();
  }
}

const isFor = ({ place, isUsable }: AgentProcess, { dir, readOnly }: AgentPlace): boolean =>
  isUsable && place.dir === dir && place.readOnly === readOnly;

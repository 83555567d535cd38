import type { AgentCall, DevsError } from '@devs/core';
import { agentFault, type CodingPlace } from '../coding/CodingTool.ts';
import type { InstalledTool } from '../coding/InstalledTool.ts';
import type { AcpProgram } from './AcpProgram.ts';
import { AgentProcess } from './AgentProcess.ts';

/** How long it stays warm while nobody asks it, ms. */
const IDLE_MS = 60_000;

/** The same while the next stage of a task waits for checks: its session is lost with it. */
const AWAITED_MS = 30 * 60_000;

/** An installed agent, of which at most one idle process is kept. */
export class WarmAgent {
  readonly #installed: InstalledTool<AcpProgram>;
  #idle: AgentProcess | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(installed: InstalledTool<AcpProgram>) {
    this.#installed = installed;
  }

  /**
   * Hands the process that is warm for the place, or a new one, to `work`; it is kept when that succeeds, and ended
   * when not.
   */
  async use<Result>(
    place: CodingPlace,
    call: AgentCall,
    work: (process: AgentProcess, stop: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    call.signal.throwIfAborted();
    const { limits, tool } = this.#installed;
    const { timeoutMs } = limits;
    const late = (): DevsError => agentFault(tool.name, `was stopped after ${timeoutMs} ms`);
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

  async #take(place: CodingPlace, stop: AbortSignal): Promise<AgentProcess> {
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
    const idleMs = process.isAwaited ? AWAITED_MS : IDLE_MS;
    this.#timer = setTimeout(() => void this.close(), idleMs).unref();
  }
}

const isFor = ({ place, isUsable }: AgentProcess, { dir, readOnly }: CodingPlace): boolean =>
  isUsable && place.dir === dir && place.readOnly === readOnly;

/** Aborted by the call's signal, and when the stage's time is over. */
function stopSignal(
  { signal }: Pick<AgentCall, 'signal'>,
  timeoutMs: number,
  fault: () => DevsError,
): { readonly stop: AbortSignal; readonly clear: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(fault()), timeoutMs);
  const onAbort = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    stop: controller.signal,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

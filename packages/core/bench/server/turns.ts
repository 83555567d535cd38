/** Processor milliseconds between two turns of the event loop, as long as it is watched: how long a request waits for its answer. */
export class TurnWatch {
  readonly #turns: number[] = [];
  #isWatching = true;

  constructor() {
    this.#look(process.cpuUsage());
  }

  /** What was measured. */
  stop(): readonly number[] {
    this.#isWatching = false;
    return this.#turns;
  }

  #look(before: NodeJS.CpuUsage): void {
    setImmediate(() => {
      if (!this.#isWatching) return;
      const { user, system } = process.cpuUsage(before);
      this.#turns.push((user + system) / 1000);
      this.#look(process.cpuUsage());
    });
  }
}

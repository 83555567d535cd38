/** Processor milliseconds between two turns of the event loop, as long as it is watched: how long a request waits for its answer. */
export class TurnWatch {
  readonly #turns: number[] = [];
  #before = process.cpuUsage();
  #isWatching = true;

  constructor() {
    this.#look();
  }

  /** What was measured; the stretch that is under way, too. */
  stop(): readonly number[] {
    this.#isWatching = false;
    this.#note();
    return this.#turns;
  }

  #look(): void {
    setImmediate(() => {
      if (!this.#isWatching) return;
      this.#note();
      this.#before = process.cpuUsage();
      this.#look();
    });
  }

  #note(): void {
    const { user, system } = process.cpuUsage(this.#before);
    this.#turns.push((user + system) / 1000);
  }
}

/** A wall clock that a test sets. It stands still. */
export class AClock {
  at = Date.UTC(2026, 0, 2);
  readonly now = (): number => this.at;

  step(ms: number): void {
    this.at += ms;
  }
}

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

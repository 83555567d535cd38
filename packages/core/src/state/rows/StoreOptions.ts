/** What a store takes from outside besides the open state file (law L10). */
export interface StoreOptions {
  /** Milliseconds since the Unix epoch, UTC. Defaults to the system clock. */
  readonly now?: () => number;
  /** A new unique id. Defaults to a random UUID. */
  readonly newId?: () => string;
}

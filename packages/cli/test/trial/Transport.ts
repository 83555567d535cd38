/** How an agent is reached. */
export const TRANSPORTS = ['http', 'command', 'acp'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/** An agent that is up. */
export interface Connected {
  /** What `--agents` says. */
  readonly agents: string;
  /** Requests that got an answer, where that can be counted. */
  readonly answered?: () => number;
  readonly stop: () => Promise<void>;
}

/** What a call used. Without `costUsd` the cost is computed from `model`'s price; without a price it is unknown. */
export interface CallUsage {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** Part of `tokensIn`: read from the provider's cache. */
  readonly tokensCached?: number;
  readonly costUsd?: number;
  /** As the provider names it; a prefix `openai:` and a date are allowed. */
  readonly model?: string;
}

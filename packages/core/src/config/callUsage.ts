/**
 * Tokens and cost of a call. Without `costUsd`, the cost is computed from the price of `model`; without a price it is
 * unknown.
 */
export interface CallUsage {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** Part of `tokensIn` that the provider read from its cache. */
  readonly tokensCached?: number;
  readonly costUsd?: number;
  /** The provider's name of the model; a prefix `openai:` and a date are allowed. */
  readonly model?: string;
}

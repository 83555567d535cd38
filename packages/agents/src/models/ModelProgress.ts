import type { CallUsage } from '@devs/core';
import type { ModelStage } from './loadPrompts.ts';

/** What a model does while it is asked; told as it happens, never kept. */
export type ModelProgress = {
  readonly stage: ModelStage;
  readonly model: string;
  /** From 1: the requests of one stage. */
  readonly round: number;
} & (
  | { readonly kind: 'text' /** A piece of what the model says or hands to a tool. */; readonly text: string }
  | {
      readonly kind: 'round';
      /** Names of the tools it used. */
      readonly tools: readonly string[];
      readonly usage: CallUsage;
    }
);

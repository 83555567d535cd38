import type { CallUsage } from '../engine/guards/usage.ts';

/**
 * What an agent, a check or the preparation of a folder does, told while it does it. Raw: whoever shows or keeps it
 * masks it. Losing one costs a line of a transcript, never the work.
 */
export type Activity =
  /** A piece of what an agent says. */
  | { readonly kind: 'text'; readonly text: string }
  /** A piece of what an agent thinks aloud. */
  | { readonly kind: 'thought'; readonly text: string }
  /** A tool that an agent uses; one `id` from start to end. */
  | {
      readonly kind: 'tool';
      readonly id: string;
      readonly name: string;
      readonly state: 'started' | 'finished' | 'failed';
      /** What it is used on, or what went wrong; one line. */
      readonly detail?: string;
    }
  /** An edit, as a unified diff. */
  | { readonly kind: 'diff'; readonly path: string; readonly diff: string }
  /** What an agent means to do, whole each time. */
  | { readonly kind: 'plan'; readonly entries: readonly PlanEntry[] }
  /** A piece of what a command prints. */
  | { readonly kind: 'output'; readonly text: string }
  /** What the call has cost so far. */
  | { readonly kind: 'usage'; readonly usage: CallUsage }
  /** An agent asked to do something, and the policy answered. */
  | { readonly kind: 'permission'; readonly title: string; readonly granted: boolean; readonly why: string }
  /** A longer piece of work begins, in words: `installing: npm ci`. */
  | { readonly kind: 'doing'; readonly what: string };

export interface PlanEntry {
  readonly text: string;
  readonly state: 'pending' | 'in_progress' | 'completed';
}

export type OnActivity = (activity: Activity) => void;

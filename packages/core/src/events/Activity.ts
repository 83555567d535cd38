import type { CallUsage } from '../config/prices.ts';

/**
 * Progress of an agent, a check or the setup, reported while it works. Raw: mask it before you show or store it. A lost
 * activity costs a line of a transcript.
 */
export type Activity =
  /** The whole prompt of an agent for its stage, before it begins. */
  | { readonly kind: 'prompt'; readonly prompt: string }
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
      /** Its target, or the error; one line. */
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

/** Where an activity comes from. */
export interface ActivityScope {
  readonly threadId: string;
  readonly node: string;
  /** The pipeline's task; `null` outside one. */
  readonly taskId: string | null;
  /** The step, or `prepare` for what a node does before its first. */
  readonly step: string;
  /** Of the step, from 1. */
  readonly attempt: number;
  /** Milliseconds since the Unix epoch, UTC: when the step began. */
  readonly since: number;
}

/** Told what happens while it happens, masked. @param at - Milliseconds since the Unix epoch, UTC. */
export type ActivityListener = (activity: Activity, scope: ActivityScope, at: number) => void;

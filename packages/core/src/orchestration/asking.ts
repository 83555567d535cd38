import type { HitlSessionKind } from '../state/hitlSession.ts';
import type { DraftDocument, TaskBrief, WorkspaceReader } from './ports.ts';

/** A stage that can be asked about what it proposed. */
export type AnsweringStage = 'design' | 'distill' | 'implement' | 'review' | 'pivot';

/** A person's question about an open gate, and what an agent said to it. */
export interface Exchange {
  readonly question: string;
  readonly answer: string;
}

/** A person asks about an open gate. Whatever is answered decides nothing. */
export interface AnswerRequest {
  /** Whose work the gate shows. */
  readonly stage: AnsweringStage;
  readonly gate: {
    readonly kind: HitlSessionKind;
    readonly message: string;
    /** What the person is shown. */
    readonly artifact: unknown;
  };
  readonly question: string;
  /** What was asked and answered at this gate before, oldest first. */
  readonly earlier: readonly Exchange[];
  readonly brief: string;
  readonly documents: readonly DraftDocument[];
  /** Of a gate about one task. */
  readonly task?: TaskBrief;
  /** To be read; absent before the run has a folder. */
  readonly workspace?: WorkspaceReader;
}

export interface AnswerResult {
  /** Markdown, for the person who asked. */
  readonly answer: string;
}

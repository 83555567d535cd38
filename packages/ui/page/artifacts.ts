// What a gate shows, by the form it has. Anything else is shown as JSON.

export interface ShownDocument {
  readonly type: string;
  readonly title: string;
  readonly content: string;
  readonly version: number;
}

export interface Documents {
  readonly documents: readonly ShownDocument[];
  readonly unknownFiles?: readonly string[];
}

export interface ShownTask {
  readonly taskId: string;
  readonly epicId: string;
  readonly name: string;
  readonly description: string;
  readonly dependsOn: readonly string[];
  readonly requirementIds: readonly string[];
  readonly acceptanceCriteria: readonly string[];
  readonly kind?: string;
  readonly checkedBy?: string;
}

export interface PlanArtifact {
  readonly requirements: readonly {
    readonly requirementId: string;
    readonly externalId: string;
    readonly description: string;
  }[];
  readonly epics: readonly { readonly epicId: string; readonly name: string; readonly description: string }[];
  readonly tasks: readonly ShownTask[];
}

export interface Review {
  readonly epicName: string | null;
  readonly tasks: readonly {
    readonly taskId: string;
    readonly name: string;
    readonly criteria: readonly { readonly criterion: string; readonly shownBy: string | null }[];
    readonly losses?: readonly { readonly path: string | null; readonly words: string }[];
    readonly findings?: readonly string[];
  }[];
  readonly range: {
    readonly from: string;
    readonly to: string;
    readonly commits: readonly { readonly sha: string; readonly subject: string }[];
    readonly files: readonly {
      readonly path: string;
      readonly added: number | null;
      readonly removed: number | null;
    }[];
    readonly total: { readonly files: number; readonly added: number; readonly removed: number };
  };
  readonly notes?: readonly string[];
  readonly check: {
    readonly command: string;
    /** Every check with its counts. */
    readonly summary?: string;
    readonly passed: boolean;
    readonly output: string;
    /** Each named check, where there are several. */
    readonly parts?: readonly {
      readonly name: string;
      readonly passed: boolean;
      /** Milliseconds; absent where it is not recorded. */
      readonly durationMs?: number;
    }[];
    /** Of a single check. */
    readonly durationMs?: number;
    /** Counts of cases; absent if the runner does not report them. */
    readonly cases?: { readonly passed: number; readonly failed: number; readonly skipped: number };
  } | null;
  readonly rejections: readonly { readonly by: string; readonly at: string; readonly feedback: string }[];
}

const hasListsIn = (value: unknown, ...lists: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  lists.every((name) => Array.isArray((value as Readonly<Record<string, unknown>>)[name]));

export const isDocuments = (artifact: unknown): artifact is Documents => hasListsIn(artifact, 'documents');
export const isPlan = (artifact: unknown): artifact is PlanArtifact =>
  hasListsIn(artifact, 'requirements', 'epics', 'tasks');
export const isReview = (artifact: unknown): artifact is Review =>
  hasListsIn(artifact, 'tasks', 'rejections') && typeof (artifact as Partial<Review>).range?.to === 'string';

/** What a proposal rests on, and nobody decides about. */
const READ_LATER = ['RESEARCH', 'MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS', 'BASELINE', 'BRIEF'];

/** What is decided on, then reports, then the person's own brief. */
export const decidedDocumentsFirst = <Document extends Pick<ShownDocument, 'type'>>(
  documents: readonly Document[],
): readonly Document[] =>
  documents.toSorted((a, b) => READ_LATER.indexOf(a.type) - READ_LATER.indexOf(b.type));

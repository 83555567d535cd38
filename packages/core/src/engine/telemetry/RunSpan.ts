/** Attributes of a span; texts are masked. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Something that happened during a span. */
export interface RunSpanEvent {
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly attributes: SpanAttributes;
}

/** The place of a span, for links. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
}

/** A part of a run, as OpenTelemetry has it: the run, a turn, an execution of a node, a step, or a gate. Texts are masked. */
export interface RunSpan extends SpanPlace {
  /** `null` for the run. */
  readonly parentId: string | null;
  readonly name: string;
  /** `client`: a call of something outside. */
  readonly kind: 'client' | 'internal';
  /** Milliseconds since the Unix epoch; so is `endedAt`. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** It has not ended: `endedAt` is the time of the last event. */
  readonly isOpen: boolean;
  /** Why it failed; `null` if it did not. */
  readonly error: string | null;
  readonly attributes: SpanAttributes;
  readonly events: readonly RunSpanEvent[];
  /** From a child run to its parent, and back. */
  readonly links: readonly SpanPlace[];
  /** Position in the log of the event that ended it. */
  readonly endSeq: number;
}

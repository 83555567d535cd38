import { z } from 'zod';

const names = z.union([z.string(), z.array(z.string()).max(200)]);

/** The modes of the field. Those that the engine does not record have an empty stream. */
export const STREAM_MODES = [
  ...(['values', 'updates', 'custom', 'messages', 'messages-tuple'] as const),
  ...(['events', 'debug', 'tasks', 'checkpoints', 'tools'] as const),
] as const;

export type SentMode = (typeof STREAM_MODES)[number];

const mode = z.enum(STREAM_MODES);
const object = z.record(z.string(), z.unknown());

export const checkpointShape = z.looseObject({
  checkpoint_id: z.string().max(200).nullish(),
  checkpoint_ns: z.string().nullish(),
});

/** The body of a new run, in the members of LangGraph's SDK. */
export const runBody = z.looseObject({
  assistant_id: z.string().min(1).max(200),
  input: z.unknown().optional(),
  command: z
    .object({ resume: z.unknown().optional(), goto: z.unknown().optional(), update: z.unknown().optional() })
    .nullish(),
  config: z.looseObject({ configurable: object.nullish(), tags: z.array(z.string()).nullish() }).nullish(),
  context: z.unknown().optional(),
  metadata: object.nullish(),
  stream_mode: z.union([mode, z.array(mode)]).nullish(),
  stream_subgraphs: z.boolean().nullish(),
  multitask_strategy: z.enum(['reject', 'rollback', 'interrupt', 'enqueue']).nullish(),
  if_not_exists: z.enum(['reject', 'create']).nullish(),
  on_disconnect: z.enum(['cancel', 'continue']).nullish(),
  on_completion: z.enum(['delete', 'keep']).nullish(),
  checkpoint: checkpointShape.nullish(),
  checkpoint_id: z.string().max(200).nullish(),
  webhook: z.string().nullish(),
  after_seconds: z.number().nullish(),
  interrupt_before: names.nullish(),
  interrupt_after: names.nullish(),
  /** The id of the run: a repeated request is the same run. */
  run_id: z.string().min(1).max(200).nullish(),
});

export type RunBody = z.infer<typeof runBody>;

/** @defaultValue `values`, as LangGraph's */
export function modesOf({ stream_mode: given }: Pick<RunBody, 'stream_mode'>): ReadonlySet<SentMode> {
  const asked = typeof given === 'string' ? [given] : (given ?? []);
  return new Set(asked.length === 0 ? ['values'] : asked);
}

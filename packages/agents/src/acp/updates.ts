import { z } from 'zod';

// What agents tell, as far as it is used. Loose: a member that moved costs a line of a transcript, not the work.

const lenientText = z.string().optional().catch(undefined);

const location = z.looseObject({ path: z.string() });

const content = z.looseObject({
  type: z.string(),
  content: z.looseObject({ text: lenientText }).optional().catch(undefined),
  path: lenientText,
  oldText: z.string().nullish().catch(undefined),
  newText: lenientText,
});

/** Names under which agents hand a path to their tools. */
const PATH_NAMES = ['file_path', 'filePath', 'path', 'abs_path', 'absolute_path', 'notebook_path'] as const;

const rawInput = z
  .record(z.string(), z.unknown())
  .transform((input) => PATH_NAMES.map((name) => input[name]).filter((path) => typeof path === 'string'));

/** What is not used is not kept: agents say whole files here. */
const toolShape = z.object({
  toolCallId: z.string(),
  title: lenientText,
  name: lenientText,
  kind: lenientText,
  status: lenientText,
  content: z.array(content.nullable().catch(null)).nullish().catch(undefined),
  locations: z.array(location).nullish().catch(undefined),
  rawInput: rawInput.nullish().catch(undefined),
});

const chunk = { content: z.looseObject({ text: lenientText }), messageId: lenientText };

export const updateShape = z.discriminatedUnion('sessionUpdate', [
  z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  toolShape.extend({ sessionUpdate: z.literal('tool_call') }),
  toolShape.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.looseObject({
    sessionUpdate: z.literal('plan'),
    entries: z.array(
      z.looseObject({ content: z.string(), status: z.enum(['pending', 'in_progress', 'completed']) }),
    ),
  }),
  z.looseObject({
    sessionUpdate: z.literal('usage_update'),
    cost: z.looseObject({ amount: z.unknown().optional(), currency: z.string() }).nullish().catch(undefined),
  }),
]);

export const notificationShape = z.looseObject({ sessionId: z.string(), update: z.unknown().optional() });

export const permissionShape = z.looseObject({
  sessionId: z.string(),
  toolCall: toolShape,
  options: z.array(z.looseObject({ optionId: z.string(), kind: z.string() })),
});

export type ToolUpdate = z.infer<typeof toolShape>;
export type PermissionRequest = z.infer<typeof permissionShape>;

const figure = z.number().catch(Number.NaN);
const lenientCount = z
  .unknown()
  .optional()
  .transform((value) => (value === undefined || value === null ? 0 : figure.parse(value)));

/** Tokens of one prompt, in the places where agents say them. */
export const endShape = z.looseObject({
  stopReason: z.string(),
  usage: z
    .looseObject({
      inputTokens: lenientCount,
      outputTokens: lenientCount,
      cachedReadTokens: lenientCount,
      cachedWriteTokens: lenientCount,
    })
    .nullish()
    .catch(undefined),
  _meta: z
    .looseObject({
      quota: z
        .looseObject({
          token_count: z.looseObject({ input_tokens: lenientCount, output_tokens: lenientCount }),
        })
        .optional()
        .catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

export type PromptEnd = z.infer<typeof endShape>;

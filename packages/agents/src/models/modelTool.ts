import type { AgentCall } from '@devs/core';
import type * as z from 'zod';
import { type EditedFile, ToolRefusal } from './FileDesk.ts';
import type { ToolOffer } from './modelCall.ts';

/** A tool a model may use while it works. */
export interface ModelTool extends ToolOffer {
  /**
   * @param call - That the model works in now: another one when a failure has interrupted the conversation.
   * @returns What the model is told, and what was edited.
   * @throws ToolRefusal for input that does not fit; the model is told.
   */
  readonly run: (input: unknown, call: AgentCall) => Promise<ToolOutcome>;
}

export interface ToolOutcome {
  readonly told: string;
  readonly edited?: EditedFile;
}

export interface ModelToolOptions<Input> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Input>;
  readonly run: (input: Input, call: AgentCall) => Promise<string | ToolOutcome>;
}

export function modelTool<Input>({ run, ...offer }: ModelToolOptions<Input>): ModelTool {
  return {
    ...offer,
    run: async (input, call) => {
      const outcome = await run(parseToolInput(offer, input), call);
      return typeof outcome === 'string' ? { told: outcome } : outcome;
    },
  };
}

/** @throws InvalidInput naming what is wrong, in words for the model. */
export function parseToolInput<Input>(
  { name, schema }: { readonly name: string; readonly schema: z.ZodType<Input> },
  input: unknown,
): Input {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new InvalidInput(name, result.error);
}

/** Input that does not have the tool's shape. */
export class InvalidInput extends ToolRefusal {
  constructor(tool: string, { issues }: z.ZodError) {
    const lines = issues.map(({ path, message }) => `- ${path.map(String).join('.') || 'input'}: ${message}`);
    super(`The input of ${tool} is not valid:\n${lines.join('\n')}`);
  }
}

import type { z } from 'zod';
import type { ToolOffer } from './modelCall.ts';
import { ToolRefusal } from './ToolRefusal.ts';

/** A tool a model may use while it works. */
export interface ModelTool extends ToolOffer {
  /**
   * @returns what the model is told.
   * @throws ToolRefusal for input that does not fit; the model is told.
   */
  readonly run: (input: unknown) => Promise<string>;
}

export interface ModelToolOptions<Input> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Input>;
  readonly run: (input: Input) => Promise<string> | string;
}

export function modelTool<Input>({ run, ...offer }: ModelToolOptions<Input>): ModelTool {
  return { ...offer, run: async (input) => run(inputOf(offer, input)) };
}

/** @throws InvalidInput naming what is wrong, in words for the model. */
export function inputOf<Input>(
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

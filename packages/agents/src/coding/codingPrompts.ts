import { createHash } from 'node:crypto';
import { z } from 'zod';
import { loadPrompts, type ModelStage, type PromptVersion, readPrompt } from '../models/loadPrompts.ts';

/** The prompts of models, with what is different for a tool that edits in place and answers in text. */
export interface CodingPrompts {
  readonly version: PromptVersion;
  /** Over all texts, hex. */
  readonly sha256: string;
  /** For a stage whose result is what it leaves in the folder. */
  forEdit(stage: ModelStage, request: string): string;
  /** For a stage whose result is an answer of this shape. @param system - In the place of the stage's own prompt. */
  forAnswer(stage: ModelStage, request: string, schema: z.ZodType, system?: string): string;
}

/** @throws DevsError `CONFIG_INVALID` for a version this package does not have. */
export function codingPrompts(named?: string): CodingPrompts {
  const { version, sha256, of } = loadPrompts(named);
  const edit = readPrompt(version, 'commandEdit');
  const answer = readPrompt(version, 'commandAnswer');
  const schemaText = (schema: z.ZodType): string => JSON.stringify(z.toJSONSchema(schema));
  return {
    version,
    sha256: createHash('sha256')
      .update(JSON.stringify([sha256, edit, answer]))
      .digest('hex'),
    forEdit: (stage, request) => [of[stage], request, edit].join('\n\n'),
    forAnswer: (stage, request, schema, system = of[stage]) =>
      [system, request, answer, schemaText(schema)].join('\n\n'),
  };
}

import { z } from 'zod';

/** What a text says, in the shape of an answer, or what is wrong about it. */
export type ReadAnswer<Answer> = { readonly value: Answer } | { readonly problem: string };

/** Finds the answer in what a coding CLI said: the last fenced block that is JSON, or all, or what stands in braces. */
export function jsonAnswer<Answer>(text: string, schema: z.ZodType<Answer>): ReadAnswer<Answer> {
  const found = candidates(text).find((candidate) => parsed(candidate) !== undefined);
  if (found === undefined) return { problem: 'There is no JSON object in it.' };
  const answer = schema.safeParse(parsed(found));
  return answer.success ? { value: answer.data } : { problem: z.prettifyError(answer.error) };
}

function candidates(text: string): readonly string[] {
  // No line of JSON begins with a fence: a block ends at the next one, and some programs go on in its line.
  const found = text.matchAll(/^```(?:json)?[ \t]*\n(?=([\s\S]*?)^```)/gm);
  const blocks = [...found].map((match) => String(match[1])).reverse();
  return [...blocks, text, text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)];
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

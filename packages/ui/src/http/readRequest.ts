import { z } from 'zod';
import { UiError } from './errors.ts';

/** More than a question, a code or a hash has: bytes. */
const MOST_BYTES = 64 * 1024;

/** More than any answer; the engine's own limits are narrower: bytes. */
export const MOST_OF_A_TEXT = 4 * 1024 * 1024;

/**
 * The JSON of a request, as `shape` has it.
 *
 * @param most - Bytes.
 * @throws UiError for too much of it, or another shape.
 */
export async function readJson<Shape extends z.ZodType>(
  request: Request,
  shape: Shape,
  most: number = MOST_BYTES,
): Promise<z.infer<Shape>> {
  const text = await readBody(request, most);
  try {
    return shape.parse(JSON.parse(text));
  } catch (error) {
    const message = error instanceof z.ZodError ? z.prettifyError(error) : 'The body is not valid JSON.';
    throw new UiError(422, { code: 'INVALID_REQUEST', message, remedy: 'Reload the page.' });
  }
}

async function readBody(request: Request, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > most) {
      throw new UiError(413, {
        code: 'INVALID_REQUEST',
        message: 'The text is too long.',
        remedy: 'Shorten it.',
      });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The query of a request, as `shape` has it; every value comes as a text.
 *
 * @throws UiError for another shape.
 */
export function readQuery<Shape extends z.ZodType>({ url }: Request, shape: Shape): z.infer<Shape> {
  const found = shape.safeParse(Object.fromEntries(new URL(url).searchParams));
  if (found.success) return found.data;
  throw new UiError(422, {
    code: 'INVALID_REQUEST',
    message: z.prettifyError(found.error),
    remedy: 'Reload the page.',
  });
}

import { z } from 'zod';
import { ApiError, invalid } from './ApiError.ts';

/** Names that a program could take for the prototype of an object. */
const UNSAFE = '__proto__';

/**
 * The JSON of a request, as `shape` has it. An empty body is an empty object.
 *
 * @throws ApiError for more than `most` bytes, a member called `__proto__`, or another shape.
 */
export async function readBody<Shape extends z.ZodType>(
  request: Request,
  shape: Shape,
  most: number,
): Promise<z.infer<Shape>> {
  const found = shape.safeParse(parseJson(await readText(request, most)));
  if (found.success) return found.data;
  throw invalid(z.prettifyError(found.error));
}

/** The query of a request, as `shape` has it; every value comes as a text. @throws ApiError for another shape. */
export function readQuery<Shape extends z.ZodType>({ url }: Request, shape: Shape): z.infer<Shape> {
  const found = shape.safeParse(Object.fromEntries(new URL(url).searchParams));
  if (found.success) return found.data;
  throw invalid(z.prettifyError(found.error));
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (key === UNSAFE) throw invalid('A member cannot be called "__proto__".');
      return value;
    });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalid('The body is not valid JSON.');
  }
}

async function readText(request: Request, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > most) throw new ApiError(413, 'BODY_TOO_LARGE', `A body has at most ${most} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

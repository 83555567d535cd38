import { z } from 'zod';
import { ApiError, invalid } from './ApiError.ts';

/** Names that a program could take for the prototype of an object. */
const UNSAFE = '__proto__';

/**
 * The JSON of a request. An empty body is an empty object.
 *
 * @throws ApiError for more than `most` bytes, a body that is slow in coming, and a member called `__proto__`.
 */
export async function readBody(request: Request, most: number): Promise<unknown> {
  return parseJson(await readText(request, most));
}

/** @throws ApiError for another shape. */
export function parseShape<Shape extends z.ZodType>(shape: Shape, given: unknown): z.infer<Shape> {
  const found = shape.safeParse(given);
  if (found.success) return found.data;
  throw invalid(z.prettifyError(found.error));
}

/** The query of a request, as `shape` has it; every value comes as a text. @throws ApiError for another shape. */
export function readQuery<Shape extends z.ZodType>({ url }: Request, shape: Shape): z.infer<Shape> {
  return parseShape(shape, Object.fromEntries(new URL(url).searchParams));
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

/** How long a body may take, ms. */
const MOST_MS = 30_000;

async function readText(request: Request, most: number): Promise<string> {
  if (request.body === null) return '';
  const reader = request.body.getReader();
  const late = setTimeout(() => void reader.cancel(LATE).catch(() => undefined), MOST_MS).unref();
  const until = performance.now() + MOST_MS;
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (performance.now() >= until) throw LATE;
      if (done) return text + decoder.decode();
      size += value.byteLength;
      if (size > most) throw new ApiError(413, 'BODY_TOO_LARGE', `A body has at most ${most} bytes.`);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(late);
  }
}

const LATE = new ApiError(408, 'BODY_TOO_SLOW', `A body takes at most ${MOST_MS / 1000} seconds.`);

import { z } from 'zod';
import { UiError } from './errors.ts';

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
    remedy: 'Load the page again.',
  });
}

import type * as z from 'zod';

/**
 * A schema that is made when something is first parsed by it, and kept. Most processes parse by a few of them, and loading zod
 * takes one that only reads as long as opening the state file.
 *
 * @example
 * ```ts
 * const vote = lateSchema(() => z.strictObject({ by: z.string() }));
 * vote().safeParse(value);
 * ```
 */
export function lateSchema<Schema extends z.ZodType>(make: () => Schema): () => Schema {
  let schema: Schema | null = null;
  return () => {
    schema ??= make();
    return schema;
  };
}

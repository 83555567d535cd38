import { z } from 'zod';

/** A path from the top of the project that by its spelling stays in the project. */
export const insideProject = z
  .string()
  .regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).+$/, 'Expected a relative path without ".."');

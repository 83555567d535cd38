import { z } from 'zod';

/** A path from the top of the project that leads to no other place by its spelling. */
export const insideProject = z
  .string()
  .regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).+$/, 'Expected a relative path without ".."');

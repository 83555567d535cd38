import type { Principal } from '@devs/core';

/** Stands for your sessions: a cookie names the person. Use signed ones. */
export function personOf({ headers }: Request): Principal | null {
  const [, id] = /(?:^|; )person=([\w-]+)/.exec(headers.get('cookie') ?? '') ?? [];
  return id === undefined ? null : { kind: 'human', id };
}

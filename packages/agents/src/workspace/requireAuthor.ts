import type { WorkspacePort } from '@devs/core/internal';

/** @throws RangeError for a name or address that git would not keep as it is. */
export function requireAuthor({ name, email }: WorkspacePort.Author): void {
  if ([name, email].every((part) => /^[^<>\p{Cc}]*[^<>\p{Cc}\s][^<>\p{Cc}]*$/u.test(part))) return;
  throw new RangeError(
    `Expected an author's name and address in one line, got ${JSON.stringify([name, email])}.`,
  );
}

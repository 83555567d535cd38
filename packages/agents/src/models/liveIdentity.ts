import type { StageAgents } from '@devs/core';

/** How agents that are asked live are named in the record of a run: who works, and by which prompts. */
export function liveIdentity(
  workers: Iterable<{ readonly name: string }>,
  { version, sha256 }: { readonly version: string; readonly sha256: string },
): Pick<StageAgents, 'name'> & { readonly fingerprint: string } {
  const names = new Set([...workers].map(({ name }) => name));
  return { name: [...names].join(' + '), fingerprint: `prompts ${version} ${sha256.slice(0, 12)}` };
}

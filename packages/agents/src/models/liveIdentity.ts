import type { StageAgents } from '@devs/core';
import type { PromptVersion } from './loadPrompts.ts';

/** Who works, and by which prompts. */
export interface LiveIdentity {
  readonly workers: Iterable<{ readonly name: string }>;
  readonly prompts: { readonly version: PromptVersion; readonly sha256: string };
}

/** How agents that are asked live are named in the record of a run. */
export function liveIdentity({
  workers,
  prompts: { version, sha256 },
}: LiveIdentity): Pick<StageAgents, 'name'> & { readonly fingerprint: string } {
  const names = new Set([...workers].map(({ name }) => name));
  return { name: [...names].join(' + '), fingerprint: `prompts ${version} ${sha256.slice(0, 12)}` };
}

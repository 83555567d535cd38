import type { ModelProgress } from '@devs/agents';
import type { Output } from '../terminal/Output.ts';

/** Prints each answered request of a model as a line: long stages would look dead without it. */
export function showModelProgress(out: Output): (progress: ModelProgress) => void {
  return (progress) => {
    if (progress.kind === 'round') out.print({ style: 'dim', text: `         ${roundWords(progress)}` });
  };
}

type Round = Extract<ModelProgress, { readonly kind: 'round' }>;

function roundWords({ stage, model, round, tools, usage }: Round): string {
  const used = tools.length === 0 ? 'text' : tools.join(', ');
  const { tokensIn, tokensOut } = usage;
  const tokens = tokensIn === undefined ? '' : `, ${tokensIn} tokens in, ${tokensOut ?? 0} out`;
  return `${stage} ${round}: ${used} (${model}${tokens})`;
}

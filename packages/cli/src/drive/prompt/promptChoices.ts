import type { Gate } from '@devs/core';
import { type ChoiceName, GATE_LABELS } from '../../gates/gateLabels.ts';

/** What a person may say at a prompt: the choices of the gate, and what decides nothing. */
export type PromptWord = ChoiceName | 'read' | 'unhide' | 'talk' | 'later';

export interface PromptChoice {
  /** Typed in the place of the word. */
  readonly key: string;
  readonly word: PromptWord;
  readonly meaning: string;
}

const BESIDE: readonly Omit<PromptChoice, 'key'>[] = [
  { word: 'read', meaning: 'show the whole gate again' },
  { word: 'unhide', meaning: 'also show hidden text; this is recorded' },
  { word: 'talk', meaning: 'ask the agent without deciding' },
  { word: 'later', meaning: 'leave the gate open' },
];

/** The choices at a gate, each with a letter of its word that no other has. */
export function promptChoices(
  kind: Gate['kind'],
  { canTalk, hides }: { readonly canTalk: boolean; readonly hides: boolean },
): readonly PromptChoice[] {
  const decisions = GATE_LABELS[kind].choices.map(({ name, meaning }) => ({ word: name, meaning }));
  const beside = BESIDE.filter(({ word }) => (word !== 'talk' || canTalk) && (word !== 'unhide' || hides));
  const taken = new Set<string>();
  return [...decisions, ...beside].map(({ word, meaning }) => {
    const key = [...word].find((letter) => !taken.has(letter)) ?? word;
    taken.add(key);
    return { key, word, meaning };
  });
}

/** The choice a line names by its key or word; `null` for none. */
export function chosen(line: string, choices: readonly PromptChoice[]): PromptWord | null {
  const said = line.toLowerCase();
  return choices.find(({ key, word }) => said === key || said === word)?.word ?? null;
}

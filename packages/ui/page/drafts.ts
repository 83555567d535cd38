import { type Signal, signal } from '@preact/signals';

const NAME = 'devs-draft ';
const known = new Map<string, Signal<string>>();

/** What a person has written and not sent, of one gate: kept for the tab, also when the page is loaded again. */
export function draftOf(gate: string): Signal<string> {
  const draft = known.get(gate) ?? signal(sessionStorage.getItem(NAME + gate) ?? '');
  known.set(gate, draft);
  return draft;
}

export function writeDraft(gate: string, text: string): void {
  draftOf(gate).value = text;
  if (text === '') sessionStorage.removeItem(NAME + gate);
  else sessionStorage.setItem(NAME + gate, text);
}

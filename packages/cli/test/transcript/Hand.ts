/** What a user does at a command beside typing it. */
export type Hand =
  /** Sits at a terminal and types these lines, one at each prompt. */
  | { readonly kind: 'says'; readonly lines: readonly string[] }
  /** Finds each text in the editor, and changes it. */
  | { readonly kind: 'edits'; readonly changes: readonly (readonly [from: string, to: string])[] }
  /** Kills it from elsewhere with -9 while the checks run on a folder that holds this file. */
  | { readonly kind: 'kills'; readonly during: string }
  /** Presses Ctrl-C once this is shown. */
  | { readonly kind: 'stops'; readonly after: string };

/** By command: what is done the first time it is typed, the second time, and so on. */
export type Hands = Readonly<Record<string, readonly (Hand | null)[]>>;

export const says = (...lines: readonly string[]): Hand => ({ kind: 'says', lines });
export const edits = (...changes: readonly (readonly [from: string, to: string])[]): Hand => ({
  kind: 'edits',
  changes,
});

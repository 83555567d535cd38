import type { Styled } from '../Line.ts';
import { paintDiff } from './diff.ts';
import { withLook } from './look.ts';
import { paintMarkdown } from './markdown.ts';

/**
 * A text as a terminal with colours shows it.
 *
 * @param styled - Safe to show: masked, and what cannot be seen is spelled out. Nothing of it is taken for a code.
 * @param width - Of the terminal, in columns.
 */
export function paint({ style, text }: Styled, width: number): string {
  if (style === 'markdown') return paintMarkdown(text, width);
  return style === 'diff' ? paintDiff(text) : withLook(style, text);
}

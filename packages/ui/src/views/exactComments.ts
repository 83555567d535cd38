import { type GateComment, maskAtGate, type QuotableSection, visibleText } from '@devs/core/internal';

/** Begins a character that was spelled out for the page. */
const SPELLED = '⟨U+';

/** Whether a comment quotes what the page has spelled out, and not what stands there. */
export const isSpelled = ({ quote }: GateComment): boolean => quote.includes(SPELLED);

/**
 * Comments with the quotes as they stand in what is shown. A person quotes what they see, and what cannot be seen was spelled
 * out for them: then the whole lines are quoted. What is not found stays as it is, and is refused by the engine.
 */
export function exactComments(
  comments: readonly GateComment[],
  places: readonly QuotableSection[],
  gate: string,
): readonly GateComment[] {
  const { view } = maskAtGate({ places }, { gate });
  return comments.map((comment) => {
    const isPlace = ({ names }: QuotableSection): boolean => names.includes(comment.in);
    const texts = [places, view.places].flatMap((each) => each.find(isPlace)?.texts ?? []);
    const quote = isSpelled(comment) ? exactLines(comment, texts) : null;
    return quote === null ? comment : { ...comment, quote };
  });
}

function exactLines({ quote, line = 1 }: GateComment, texts: readonly string[]): string | null {
  const count = quote.split('\n').length;
  for (const text of texts) {
    const lines = text
      .split('\n')
      .slice(line - 1, line - 1 + count)
      .join('\n');
    if (visibleText(lines).includes(quote)) return lines;
  }
  return null;
}

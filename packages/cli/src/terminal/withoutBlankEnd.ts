/** Without the spaces and line feeds at its end; whatever else is there is shown. */
export function withoutBlankEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

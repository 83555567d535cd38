// How a text file is written: its line ends, its byte order mark, the end of its last line. An edit keeps all three.

type LineEnd = '\n' | '\r\n';

const MARK = '\uFEFF';

/** A text as it is read and searched: every line ends alike, without a mark before the first. */
export const plainText = (content: string): string =>
  content.slice(content.startsWith(MARK) ? MARK.length : 0).replaceAll('\r\n', '\n');

/** A new text for a file, written as the file was. */
export function inFormOf(own: string, text: string): string {
  const ends = lineEndsIn(own);
  const usual = lineEndOf(own) ?? lineEndOf(text) ?? '\n';
  const lines = plainText(text).split('\n');
  const body = lines
    .map((line, at) => (at === lines.length - 1 ? line : line + (ends.get(line) ?? usual)))
    .join('');
  const isEnded = own.endsWith('\n') && body !== '' && !body.endsWith('\n');
  const mark = own.startsWith(MARK) || text.startsWith(MARK) ? MARK : '';
  return `${mark}${body}${isEnded ? usual : ''}`;
}

/** Part of a text, in UTF-16 code units. */
export interface Passage {
  readonly from: number;
  readonly to: number;
}

/** Where a passage stands in a text, whichever line ends either has. */
export function passagesOf(content: string, find: string): readonly Passage[] {
  const [plain, wanted] = [content, find].map((text) => text.replaceAll('\r\n', '\n')) as [string, string];
  const place = placeIn(content);
  const found: Passage[] = [];
  for (let at = plain.indexOf(wanted); at !== -1; at = plain.indexOf(wanted, at + wanted.length)) {
    found.push({ from: place(at), to: place(at + wanted.length) });
  }
  return found;
}

/** A text with one passage replaced: the new passage gets the line ends of the old one. */
export function withPassage(content: string, { from, to }: Passage, replacement: string): string {
  const end = lineEndOf(content.slice(from, to)) ?? lineEndAfter(content, to) ?? lineEndOf(content) ?? '\n';
  const text = replacement.replaceAll('\r\n', '\n').replaceAll('\n', end);
  const isUnended = to === content.length && content.endsWith('\n') && text !== '' && !text.endsWith('\n');
  return `${content.slice(0, from)}${text}${isUnended ? end : ''}${content.slice(to)}`;
}

/** The place in a text of one in the same text with `\n` alone; asked from left to right. */
function placeIn(content: string): (plain: number) => number {
  let removed = 0;
  let next = content.indexOf('\r\n');
  return (plain) => {
    while (next !== -1 && next < plain + removed) {
      removed += 1;
      next = content.indexOf('\r\n', next + 2);
    }
    return plain + removed;
  };
}

/** The line end of most lines of a text; `null` for a single line without an end. */
function lineEndOf(text: string): LineEnd | null {
  const all = text.split('\n').length - 1;
  if (all === 0) return null;
  return (text.split('\r\n').length - 1) * 2 > all ? '\r\n' : '\n';
}

function lineEndAfter(content: string, place: number): LineEnd | null {
  const at = content.indexOf('\n', place);
  if (at === -1) return null;
  return content[at - 1] === '\r' ? '\r\n' : '\n';
}

/** The line end of each line of a text: a file may have both. */
function lineEndsIn(text: string): ReadonlyMap<string, LineEnd> {
  const lines = text
    .slice(text.startsWith(MARK) ? MARK.length : 0)
    .split('\n')
    .slice(0, -1);
  const ended = (line: string): [string, LineEnd] =>
    line.endsWith('\r') ? [line.slice(0, -1), '\r\n'] : [line, '\n'];
  return new Map(lines.map(ended));
}

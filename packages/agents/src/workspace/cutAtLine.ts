const CUT = Buffer.from('[cut: there is more]\n');

/** The first lines of a text, in at most so many bytes of UTF-8; one that is cut says so in its last line. */
export function cutAtLine(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const room = maxBytes - CUT.length;
  if (room < 0) return '';
  const end = bytes.subarray(0, room).lastIndexOf('\n') + 1;
  return bytes.toString('utf8', 0, end) + CUT.toString();
}

/**
 * The text of a file that a person hands over, without a byte order mark. What does not come back as it was written would
 * be approved as something else.
 *
 * @throws TypeError when it is not UTF-8, or holds the NUL of a binary file.
 */
export function decodeUtf8Text(bytes: Uint8Array): string {
  const text = decodeStrict(bytes);
  if (text.includes('\0')) throw new TypeError('it is a binary file');
  return text;
}

function decodeStrict(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new TypeError('it is not UTF-8 text', { cause: error });
  }
}

/** @throws RangeError for what is no id of a git object. */
export function requireObjectId(name: string, value: string): void {
  if (/^[0-9a-f]{40}$/.test(value)) return;
  throw new RangeError(`Expected ${name} to be a git object id, got ${JSON.stringify(value)}.`);
}

/** @throws RangeError for what cannot stand on the last line of a message. */
export function requireOneLine(stepKey: string): void {
  if (/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(stepKey)) return;
  throw new RangeError(
    `Expected stepKey to be 1 to 200 printable ASCII characters, got ${JSON.stringify(stepKey)}.`,
  );
}

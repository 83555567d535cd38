const BLOCK = /^```console\n[\s\S]*?^```$/gm;

/**
 * A Markdown page with other texts in its ```` ```console ```` blocks.
 *
 * @throws RangeError when there are more or fewer blocks than texts.
 */
export function withConsoleBlocks(page: string, texts: readonly string[]): string {
  const blocks = page.match(BLOCK) ?? [];
  if (blocks.length !== texts.length) {
    throw new RangeError(`Expected ${texts.length} console blocks, found ${blocks.length}.`);
  }
  const left = [...texts];
  return page.replace(BLOCK, () => `\`\`\`console\n${left.shift()}\`\`\``);
}

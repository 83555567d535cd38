/** Languages in which `#` begins a comment. */
const HASH = /\.(?:py|rb|sh|exs?|bats)$/;
const SLASHES = /(["'`])(?:\\.|(?!\1)[^\\\n])*\1|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const HASHES = /("""|''')[\s\S]*?\1|(["'])(?:\\.|(?!\2)[^\\\n])*\2|#[^\n]*/g;

/** A source without its comments. What stands in a text stays. */
export function withoutComments(path: string, source: string): string {
  const pattern = HASH.test(path) ? HASHES : SLASHES;
  return source.replaceAll(pattern, (found) => (/^(?:\/\/|\/\*|#)/.test(found) ? '' : found));
}

/** A source without its comments and with every text in it empty: what is left is code. */
export function codeOnly(path: string, source: string): string {
  const pattern = HASH.test(path) ? HASHES : SLASHES;
  return source.replaceAll(pattern, (found) => (/^(?:\/\/|\/\*|#)/.test(found) ? '' : "''"));
}

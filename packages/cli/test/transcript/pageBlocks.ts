/** What a user does at one command line of a page; what comes back is what the page shows below it. */
export type Typing = (command: string, place: Place) => Promise<string>;

export interface Place {
  /** The title of the section. */
  readonly section: string;
}

/** Of these languages are blocks of commands: with a `$` in front and what comes back below (`console`), or alone (`sh`). */
const TYPED = /^(#{1,6} .*)$|^```(console|sh)\n([\s\S]*?)^```$/gm;

const LEFT_OUT = /^[ │]*…$/;

/**
 * Types every command of a Markdown page, in the page's order.
 *
 * @returns The page with what came back; of an output that the page shortens with a line `…` the same lines are left out.
 */
export async function typePage(page: string, type: Typing): Promise<string> {
  let typed = '';
  let end = 0;
  let section = '';
  for (const { 0: whole, 1: heading, 2: language, 3: text = '', index } of page.matchAll(TYPED)) {
    if (heading !== undefined) {
      section = heading.replace(/^#+ /, '');
      continue;
    }
    const at = { section };
    const again = language === 'sh' ? await typeLines(text, at, type) : await typeConsole(text, at, type);
    typed += `${page.slice(end, index)}\`\`\`${language}\n${again}\`\`\``;
    end = index + whole.length;
  }
  return typed + page.slice(end);
}

async function typeLines(text: string, place: Place, type: Typing): Promise<string> {
  for (const command of commandsOf(text)) await type(command, place);
  return text;
}

async function typeConsole(text: string, place: Place, type: Typing): Promise<string> {
  const entries: string[] = [];
  for (const entry of text.replace(/^\$ /, '').split(/\n\n\$ /)) {
    const [command = '', ...shown] = entry.trimEnd().split('\n');
    const output = await type(command, place);
    entries.push(`$ ${command}\n${shortened(output, shown)}`);
  }
  return entries.join('\n');
}

/** Lines without their remarks, or several that belong together as a here-document does. */
function commandsOf(text: string): readonly string[] {
  const commands: string[] = [];
  let until: string | null = null;
  for (const line of text.trimEnd().split('\n')) {
    if (until !== null) {
      commands.push(`${commands.pop()}\n${line}`);
      if (line === until) until = null;
    } else if (line.trim() !== '' && !line.startsWith('#')) {
      commands.push(line.replace(/ +# .*$/, ''));
      until = /<<'(\w+)'/.exec(line)?.[1] ?? null;
    }
  }
  return commands;
}

function shortened(output: string, shown: readonly string[]): string {
  const at = shown.findIndex((line) => LEFT_OUT.test(line));
  if (at < 0) return output;
  const lines = output.trimEnd().split('\n');
  const after = shown.length - at - 1;
  return `${[...lines.slice(0, at), shown[at], ...lines.slice(lines.length - after)].join('\n')}\n`;
}

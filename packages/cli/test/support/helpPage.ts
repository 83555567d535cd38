/** Prints the help of a command line without the program's name. */
export type Help = (...verbs: readonly string[]) => Promise<string>;

const HEAD = `# Help of every command

The output of \`devs VERB --help\`, without the options of every command. Descriptions: [Commands](commands.md). To update this page
after a change of the command, run \`pnpm test options -u\`.
`;

const VERB = /^ {2}([a-z][a-z-]+)\b/gm;
const OPTION = /^ {2}(?:-\w, )?(--[a-z][a-z-]+)/gm;

/** The verbs or options that a section of a help text lists. */
function listed(help: string, section: 'Commands' | 'Options', item: RegExp): readonly string[] {
  const [, text = ''] = help.split(`\n${section}:\n`);
  const [lines = ''] = text.split(/\n\n(?! )/);
  return [...lines.matchAll(item)].flatMap(([, name]) => name ?? []).filter((name) => !/help$/.test(name));
}

export const listedVerbs = (help: string): readonly string[] => listed(help, 'Commands', VERB);

export const listedOptions = (help: string): readonly string[] => listed(help, 'Options', OPTION);

/** Every verb, those of `admin` too, in the order in which help lists them. */
export async function everyVerb(help: Help): Promise<readonly string[]> {
  const [daily, admin] = await Promise.all([help(), help('admin')]);
  return [...listedVerbs(daily).filter((verb) => verb !== 'admin'), ...listedVerbs(admin)];
}

const withoutGlobals = (text: string): string =>
  text.replace(/\nGlobal Options:\n[\s\S]*?(?=\n\n|$)/, '').trim();

const block = (name: string, text: string): string =>
  `## \`${name}\`\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`;

/** The page `docs/reference/help.md`. */
export async function helpPage(help: Help): Promise<string> {
  const verbs = await everyVerb(help);
  const texts = await Promise.all(verbs.map(async (verb) => [verb, await help(verb)] as const));
  const parts = texts.map(([verb, text]) => block(`devs ${verb}`, withoutGlobals(text)));
  return [HEAD, block('devs', await help()), ...parts].join('\n');
}

// A coding CLI: its prompt on stdin, its folder the one it is started in. Argument: where it thinks.
import { readFileSync } from 'node:fs';
import { work } from './work.mjs';

const { text } = await work({
  mind: process.argv[2],
  prompt: readFileSync(0, 'utf8'),
  dir: process.cwd(),
  onTool: async (name, path) => process.stderr.write(`${name} ${path}\n`),
});
process.stdout.write(`${text}\n`);

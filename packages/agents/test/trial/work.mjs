// What the programs of the trial have in common: they ask what to do, and do it in their folder.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Reads a file or a folder; nothing where there is none. */
function readOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function edit(dir, files) {
  for (const [path, content] of Object.entries(files)) {
    const file = join(dir, path);
    if (content === null) rmSync(file, { force: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    }
  }
}

/**
 * Does one stage.
 *
 * @param onTool told of each tool that is used: its name, and on what
 * @returns what it says at its end, and why it ended
 */
export async function work({ mind, prompt, dir, onTool = async () => {} }) {
  let read;
  for (;;) {
    const response = await fetch(mind, { method: 'POST', body: JSON.stringify({ prompt, read }) });
    const order = await response.json();
    if (order.do === 'say') return { text: order.say, end: order.isRefusal ? 'refusal' : 'end_turn' };
    if (order.do === 'edit') {
      for (const path of Object.keys(order.files)) await onTool('edit', path);
      edit(dir, order.files);
      return { text: order.say, end: 'end_turn' };
    }
    if (order.do === 'look-around') {
      for (let time = 0; time < order.times; time += 1) {
        readdirSync(dir);
        await onTool('read', '.');
      }
      return { text: 'I would have to read more.', end: 'max_turn_requests' };
    }
    await onTool('read', order.path);
    read = readOf(join(dir, order.path));
  }
}

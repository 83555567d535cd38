// The rooms of a folder, its files and subfolders, and the arrows between them: A -> B where a file of A imports one of B.
//   node scripts/rooms.mjs FOLDER…    rooms, arrows, pairs that import each other, and circles, a line per folder
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsOf, withoutComments } from './imports.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Sources below `folder` as `{ path, text }`, `path` relative to it. */
export function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('__tests__/'))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

/** Each room with the rooms it imports, and one import that shows it: `Map<room, Map<room, 'from -> to'>>`. */
function arrowsBetween(sources) {
  const roomOf = (path) => path.split('/')[0];
  const arrows = new Map(sources.map(({ path }) => [roomOf(path), new Map()]));
  for (const { path, text } of sources) {
    for (const { target } of importsOf(withoutComments(text))) {
      const to = posix.join(posix.dirname(path), target);
      const [here, there] = [roomOf(path), roomOf(to)];
      if (!target.startsWith('.') || here === there || !arrows.has(there)) continue;
      if (!arrows.get(here).has(there)) arrows.get(here).set(there, `${path} -> ${to}`);
    }
  }
  return arrows;
}

/** The way from a room back to itself, as imports; `null` where there is none. */
function wayBack(start, arrows) {
  const ways = [...arrows.get(start)].map(([room, by]) => ({ room, by: [by] }));
  const seen = new Set();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    if (way.room === start) return way.by;
    if (seen.has(way.room)) continue;
    seen.add(way.room);
    ways.push(...[...arrows.get(way.room)].map(([room, by]) => ({ room, by: [...way.by, by] })));
  }
  return null;
}

/** How the rooms of a folder hang together. `circles`: the shortest way back of each room that has one. */
export function house(sources) {
  const arrows = arrowsBetween(sources);
  const rooms = [...arrows.keys()].sort();
  const pairs = rooms.flatMap((a) =>
    [...arrows.get(a).keys()].filter((b) => a < b && arrows.get(b).has(a)).map((b) => [a, b]),
  );
  const circles = rooms.map((room) => wayBack(room, arrows)).filter((way) => way !== null);
  const count = rooms.reduce((sum, room) => sum + arrows.get(room).size, 0);
  return { rooms, arrows: count, pairs, circles };
}

function main(folders) {
  for (const folder of folders) {
    const { rooms, arrows, pairs, circles } = house(sourcesIn(join(root, folder)));
    const inCircle = `${circles.length} in a circle`;
    process.stdout.write(
      `${folder}: ${rooms.length} rooms (${inCircle}), ${arrows} arrows, ${pairs.length} pairs that import each other\n`,
    );
  }
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) main(process.argv.slice(2));

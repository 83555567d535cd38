// LangGraph and LangChain as our sources import them, behind one door in the published command: a process that meets no package
// of a user's takes the copy inside the command, every other one the installed packages. That is asked once, as the first name
// of them is wanted (packages/cli/src/drive/langGraphCopy.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the engine imports. A model's packages come from a user, and are never inside. */
const ENGINES = /^@langchain\/(?:langgraph|langgraph-checkpoint|core)(?:\/|$)/;
const STATIC = /^import (?!type )\{([^}]*)\} from '(@langchain\/[^']+)';/gms;
const LATE = /const \{([^}]*)\} = await import\('(@langchain\/[^']+)'\)/g;
const SPACE = 'devs-langchain';

/** The copy inside the command, beside it. */
export const OWN_COPY = 'langgraph.cjs';

const wordsOf = (list, separator) =>
  list
    .split(',')
    .map((word) => word.trim().split(separator)[0])
    .filter((word) => word !== '' && !word.startsWith('type '));

/**
 * The names that sources import, by module.
 *
 * @param folders - Absolute.
 */
function importedNames(folders) {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith('.ts') && !/__tests__|testing/.test(name))
      .map((name) => join(folder, name)),
  );
  const names = new Map();
  for (const file of files) {
    const source = readFileSync(file, 'utf8');
    const imports = [
      ...[...source.matchAll(STATIC)].map(([, list, from]) => [from, wordsOf(list, ' as ')]),
      ...[...source.matchAll(LATE)].map(([, list, from]) => [from, wordsOf(list, ':')]),
    ];
    for (const [from, words] of imports.filter(([from]) => ENGINES.test(from)))
      names.set(from, new Set([...(names.get(from) ?? []), ...words]));
  }
  return new Map([...names].map(([from, words]) => [from, [...words].sort()]));
}

/** Exports all modules, of the installed packages or of the copy inside. */
const door = (modules, choice) => `
import { hasOwnLangGraph } from ${JSON.stringify(choice)};
const installed = async () => ({ ${modules.map((from) => `${JSON.stringify(from)}: await import('${from}')`).join(', ')} });
export const modules = hasOwnLangGraph() ? require('./${OWN_COPY}').modules : await installed();`;

/** One of them, as its importers know it; esbuild refuses a name that is not here. */
const room = (from, names) => `
import { modules } from 'devs:langgraph';
export const { ${names.join(', ')} } = modules[${JSON.stringify(from)}];`;

/**
 * Leads imports of LangGraph and LangChain in our sources through the door.
 *
 * @param folders - Of those sources, absolute.
 * @param choice - The source that says which copy this process takes, absolute.
 */
export function langGraphDoor(folders, choice) {
  const names = importedNames(folders);
  const outside = ({ path }) => ({ path, external: true });
  return {
    name: 'door of LangGraph',
    setup: (build) => {
      build.onResolve({ filter: ENGINES }, ({ path, namespace }) =>
        namespace === 'file' ? { path, namespace: SPACE, sideEffects: false } : outside({ path }),
      );
      build.onResolve({ filter: /^devs:langgraph$/ }, () => ({ path: 'door', namespace: SPACE }));
      build.onResolve({ filter: /^\.\/langgraph\.cjs$/ }, outside);
      build.onLoad({ filter: /./, namespace: SPACE }, ({ path }) => ({
        contents: path === 'door' ? door([...names.keys()], choice) : room(path, names.get(path) ?? []),
        resolveDir: folders[0],
      }));
    },
  };
}

/** Published without the text of their licence, and of no use to the pipeline: taken from the installed LangChain when they are wanted. */
const INSTALLED_ALONE = /^(?:@cfworker\/json-schema|js-tiktoken(?:\/lite)?)$/;

const fromInstalled = (path) => `
const { createRequire } = require('node:module');
let all;
const loaded = () => (all ??= createRequire(require.resolve('@langchain/core'))(${JSON.stringify(path)}));
module.exports = new Proxy({}, { get: (_, name) => (name === '__esModule' ? true : loaded()[name]) });`;

function leanCopy() {
  return {
    name: 'lean copy',
    setup: (build) => {
      build.onResolve({ filter: INSTALLED_ALONE }, ({ path }) => ({ path, namespace: SPACE }));
      build.onResolve({ filter: /^@langchain\/core$/ }, ({ path }) => ({ path, external: true }));
      build.onLoad({ filter: /./, namespace: SPACE }, ({ path }) => ({ contents: fromInstalled(path) }));
      // Only the language in which zod speaks by itself.
      build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.[cm]?js$/ }, () => ({
        contents: 'export {};',
      }));
    },
  };
}

/** The copy inside: of each module, what is imported of it. @returns what it was made from, as esbuild tells it */
export async function bundleLangGraph(esbuild, { folders, outfile, resolveDir }) {
  const names = [...importedNames(folders)];
  const imports = names.map(([from, words], at) => {
    const own = words.map((word) => `${word} as ${word}${at}`);
    return `import { ${own.join(', ')} } from '${from}';`;
  });
  const members = names.map(
    ([from, words], at) => `'${from}': { ${words.map((word) => `${word}: ${word}${at}`).join(', ')} }`,
  );
  const { metafile } = await esbuild.build({
    absWorkingDir: resolveDir,
    stdin: {
      contents: `${imports.join('\n')}\nexport const modules = { ${members.join(', ')} };`,
      resolveDir,
    },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // Names stay: some are looked at as it runs.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'silent' },
    plugins: [leanCopy()],
    metafile: true,
  });
  return metafile;
}

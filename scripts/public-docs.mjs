// The documentation comments of every public name: of the exported declaration, of its members, and of the types that it
// extends. Reads the syntax alone, so it needs no build.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// TypeScript 7 has no API for programs; typedoc brings one that has.
const ts = createRequire(new URL('../tools/docs/package.json', import.meta.url))('typescript');
const root = fileURLToPath(new URL('..', import.meta.url));

const HELP = `Prints the TSDoc of the public names.

usage: node scripts/public-docs.mjs [options]

  --package NAME   a package below packages/ (core); again for another one
  --entry ENTRY    only this entry, such as . or ./langgraph; again for another one
  --names          print the names, their entries and files, without comments
  --bare           print the public names that have no comment
  --json           print everything as JSON
  --help           print this text

From a program: publicDocs({ packages, entries }) returns { name, kind, entries, file, line, docs: [{ owner, member, file, line, text }] }
for each name; publicComments(options) returns the distinct comments as { file, line, text }, for a check of their prose.
`;

/** Entries that promise nothing to a user. */
const isPromised = (entry) => !/^\.\/(internal|dist\/|package\.json)/.test(entry);

const sources = new Map();

function sourceOf(path) {
  if (!sources.has(path)) {
    const text = readFileSync(path, 'utf8');
    sources.set(path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  }
  return sources.get(path);
}

/** Path of the module that `from` imports; null for one of another package. */
function moduleOf(from, specifier) {
  if (!specifier.startsWith('.')) return null;
  const path = join(dirname(from), specifier);
  return existsSync(path) ? path : null;
}

const isExported = (node) => (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export) !== 0;

/** The declarations of one name in a file, overloads included, exported or not. */
function declarationsIn(path, name) {
  return sourceOf(path).statements.flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      const found = statement.declarationList.declarations.filter((each) => each.name.getText() === name);
      return found.length > 0 ? [statement] : [];
    }
    return statement.name?.text === name ? [statement] : [];
  });
}

/** Where `name` of module `path` is declared, through every re-export; null where that is another package. */
function resolveExport(path, name) {
  const declared = declarationsIn(path, name).filter(isExported);
  if (declared.length > 0) return { path, name };
  for (const statement of sourceOf(path).statements) {
    const found = ts.isExportDeclaration(statement) ? throughExport(path, statement, name) : null;
    if (found !== null) return found;
  }
  return null;
}

function throughExport(path, { exportClause, moduleSpecifier }, name) {
  if (exportClause === undefined) {
    const target = moduleOf(path, moduleSpecifier.text);
    return target === null ? null : resolveExport(target, name);
  }
  if (!ts.isNamedExports(exportClause)) return null;
  const element = exportClause.elements.find((each) => each.name.text === name);
  if (element === undefined) return null;
  const own = (element.propertyName ?? element.name).text;
  if (moduleSpecifier === undefined) return resolveLocal(path, own);
  const target = moduleOf(path, moduleSpecifier.text);
  return target === null ? null : resolveExport(target, own);
}

/** A name as a file uses it: declared there, or imported. */
function resolveLocal(path, name) {
  if (declarationsIn(path, name).length > 0) return { path, name };
  for (const statement of sourceOf(path).statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    const element = bindings.elements.find((each) => each.name.text === name);
    const target = element === undefined ? null : moduleOf(path, statement.moduleSpecifier.text);
    if (target !== null) return resolveExport(target, (element.propertyName ?? element.name).text);
  }
  return null;
}

/** Every name that a module exports. */
function namesOf(path) {
  return sourceOf(path).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (exportClause !== undefined && ts.isNamedExports(exportClause))
        return exportClause.elements.map((element) => element.name.text);
      const target = moduleOf(path, moduleSpecifier.text);
      return target === null ? [] : namesOf(target);
    }
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map((each) => each.name.getText());
    return statement.name === undefined ? [] : [statement.name.text];
  });
}

const lineOf = (source, at) => source.getLineAndCharacterOfPosition(at).line + 1;

/** The documentation comment right before a node, as it is in the file; null where there is none. */
function commentOf(node) {
  const source = node.getSourceFile();
  const ranges = ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [];
  const last = ranges.at(-1);
  if (last === undefined || !source.text.startsWith('/**', last.pos)) return null;
  return { line: lineOf(source, last.pos), text: source.text.slice(last.pos, last.end) };
}

const isHidden = (member) =>
  (ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0 ||
  (member.name !== undefined && ts.isPrivateIdentifier(member.name));

const memberName = (member) =>
  member.name?.getText() ??
  (ts.isConstructorDeclaration(member) ? 'constructor' : ts.SyntaxKind[member.kind]);

/** Members of a class, an interface or the object types inside a type alias. */
function membersOf(declaration) {
  if (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration))
    return [...declaration.members].filter((member) => !isHidden(member));
  if (!ts.isTypeAliasDeclaration(declaration)) return [];
  const members = [];
  const visit = (node) => {
    if (ts.isTypeLiteralNode(node)) members.push(...node.members);
    ts.forEachChild(node, visit);
  };
  visit(declaration.type);
  return members;
}

/** Names of the types that a declaration extends, or is made of. */
function baseNames(declaration) {
  const names = [];
  const visit = (node) => {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) names.push(node.typeName.text);
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression))
      names.push(node.expression.text);
    if (!ts.isTypeLiteralNode(node) && !ts.isFunctionTypeNode(node)) ts.forEachChild(node, visit);
  };
  if (ts.isTypeAliasDeclaration(declaration)) visit(declaration.type);
  else for (const clause of declaration.heritageClauses ?? []) visit(clause);
  return names;
}

const bodyless = (declarations) => {
  const overloads = declarations.filter((each) => ts.isFunctionDeclaration(each) && each.body === undefined);
  return overloads.length > 0 ? overloads : declarations;
};

/** Comments of a declaration and its members, and of the types it extends, each with its file. */
function docsOf({ path, name }, seen = new Set()) {
  const key = `${path}:${name}`;
  if (seen.has(key)) return [];
  seen.add(key);
  const file = relative(root, path).split(sep).join('/');
  return bodyless(declarationsIn(path, name)).flatMap((declaration) => {
    const own = { owner: name, member: null, file, ...(commentOf(declaration) ?? { line: 0, text: null }) };
    const members = membersOf(declaration).map((member) => ({
      owner: name,
      member: memberName(member),
      file,
      ...(commentOf(member) ?? { line: lineOf(member.getSourceFile(), member.getStart()), text: null }),
    }));
    const bases = baseNames(declaration)
      .map((base) => resolveLocal(path, base))
      .filter((base) => base !== null)
      .flatMap((base) => docsOf(base, seen));
    return [own, ...members, ...bases];
  });
}

function entriesOf(name) {
  const folder = join(root, 'packages', name);
  const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([entry, target]) => isPromised(entry) && target['@devs/source'] !== undefined)
    .map(([entry, target]) => ({ entry, path: join(folder, target['@devs/source']) }));
}

function kindOf(path, name) {
  const [declaration] = declarationsIn(path, name);
  return ts.SyntaxKind[declaration.kind].replace(/(Declaration|Statement|FirstStatement)$/, '').toLowerCase();
}

/** Every exported name with where it is declared and the entry that exports it. */
function exportsOf(name, entries) {
  return entriesOf(name)
    .filter(({ entry }) => entries === undefined || entries.includes(entry))
    .flatMap(({ entry, path }) => {
      const label = entry === '.' ? `@devs/${name}` : `@devs/${name}/${entry.slice(2)}`;
      return namesOf(path).map((exported) => ({ exported, label, target: resolveExport(path, exported) }));
    })
    .filter(({ target }) => target !== null);
}

/** Every public name of `packages`, once, with the entries that export it. */
export function publicDocs({ packages = ['core'], entries } = {}) {
  const found = new Map();
  for (const { exported, label, target } of packages.flatMap((name) => exportsOf(name, entries))) {
    const known = found.get(exported) ?? { name: exported, target, entries: [] };
    if (!known.entries.includes(label)) known.entries.push(label);
    found.set(exported, known);
  }
  return [...found.values()]
    .map(({ target, ...about }) => {
      const docs = docsOf(target);
      const file = relative(root, target.path).split(sep).join('/');
      return { ...about, kind: kindOf(target.path, target.name), file, line: docs[0]?.line ?? 0, docs };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The distinct comments of public names, in the order of files and lines. */
export function publicComments(options) {
  const comments = new Map();
  for (const { file, line, text } of publicDocs(options).flatMap(({ docs }) => docs)) {
    if (text !== null) comments.set(`${file}:${line}`, { file, line, text });
  }
  return [...comments.values()].sort((one, other) =>
    one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1,
  );
}

function optionsOf(args) {
  const values = (flag) => args.flatMap((arg, at) => (args[at - 1] === flag ? [arg] : []));
  const flags = ['--package', '--entry', '--names', '--bare', '--json', '--help'];
  const unknown = args.find((arg) => arg.startsWith('--') && !flags.includes(arg));
  if (unknown !== undefined) throw new Error(`unknown option ${unknown}; --help lists the options`);
  const [packages, entries] = [values('--package'), values('--entry')];
  return { ...(packages.length > 0 && { packages }), ...(entries.length > 0 && { entries }) };
}

function linesOf(args) {
  const docs = publicDocs(optionsOf(args));
  if (args.includes('--json')) return [JSON.stringify(docs, null, 2)];
  if (args.includes('--names'))
    return docs.map(({ name, kind, entries, file }) => [name, kind, entries.join(' '), file].join('\t'));
  if (args.includes('--bare'))
    return docs.filter(({ docs: [own] }) => own?.text == null).map(({ name, file }) => `${name}\t${file}`);
  return docs.flatMap(({ name, kind, entries, docs: all }) => [
    `# ${name} (${kind}, ${entries.join(', ')})`,
    ...all
      .filter(({ text }) => text !== null)
      .map(({ member, text }) => (member === null ? text : `${member}: ${text}`)),
    '',
  ]);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  try {
    process.stdout.write(args.includes('--help') ? HELP : `${linesOf(args).join('\n')}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 2;
  }
}

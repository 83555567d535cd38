// What a source file imports, read as text.
const FROM = /(?<![\w-])(import|export)(\s+type\b)?(?:[\s\w*{},$]*?\bfrom)?\s*['"]([^'"\n]+)['"]/g;
const CALLED = /\b(?:import|require)\s*\(\s*['"]([^'"\n]+)['"]/g;

export function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

/** @param code - Without comments. @returns `isLater`: loaded when the call is reached, by `import()` or `require()` */
export function importsOf(code) {
  const declared = [...code.matchAll(FROM)].map((m) => ({ target: m[3], typeOnly: m[2] !== undefined }));
  const called = [...code.matchAll(CALLED)].map((m) => ({ target: m[1], typeOnly: false, isLater: true }));
  return [...declared, ...called];
}

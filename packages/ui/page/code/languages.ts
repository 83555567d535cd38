import type { LanguageFn } from 'highlight.js';

/** A grammar, loaded when a file of its language is shown. */
type Load = () => Promise<{ readonly default: LanguageFn }>;

/** By the names that `highlight.js` gives them. */
export const LANGUAGES: Readonly<Record<string, Load>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
};

const ENDINGS: Readonly<Record<string, string>> = {
  ...{ cc: 'cpp', cjs: 'javascript', cs: 'csharp', cts: 'typescript', h: 'c', hpp: 'cpp', htm: 'xml' },
  ...{ html: 'xml', js: 'javascript', jsx: 'javascript', kt: 'kotlin', md: 'markdown', mjs: 'javascript' },
  ...{ mts: 'typescript', py: 'python', rb: 'ruby', rs: 'rust', sh: 'bash', svg: 'xml', toml: 'ini' },
  ...{ ts: 'typescript', tsx: 'typescript', vue: 'xml', yml: 'yaml', zsh: 'bash' },
};

/** The language of a file by its name; `null` for one without colours. Pure. */
export function languageOf(path: string): string | null {
  const name = path.split('/').at(-1)?.toLowerCase() ?? '';
  if (name === 'dockerfile') return 'dockerfile';
  const ending = name.includes('.') ? (name.split('.').at(-1) ?? '') : '';
  const language = ENDINGS[ending] ?? ending;
  return Object.hasOwn(LANGUAGES, language) ? language : null;
}

const CODE_ENDS =
  '[cm]?[jt]sx?|py|go|rs|rb|java|kts?|cs|fs|php|swift|exs?|erl|hs|ml|clj|scala|dart|lua|r|jl|sh|bats|cc?|cpp|hp?p?|vue|svelte|astro|s?css|html?|sql|graphql|proto';
const DOC_ENDS = 'md|mdx|markdown|rst|adoc|txt';

/** Ends of the names of files that a text may speak of, as a part of an expression. */
export const FILE_ENDS = `(?:${CODE_ENDS}|${DOC_ENDS}|json|toml|ya?ml)`;

const CODE = new RegExp(String.raw`\.(?:${CODE_ENDS})$`, 'i');
const TEST =
  /(?:^|\/)(?:__tests__|tests?|specs?|e2e)\/|(?:^|[./_-])(?:tests?|spec)(?:-d)?\.[a-z]+$|(?:^|\/)test[_-][^/]+$|(?:Test|Tests|Spec)\.[a-z]+$/;
const DOC = new RegExp(String.raw`\.(?:${DOC_ENDS})$`, 'i');
const MANIFEST = /^(?:package\.json|pyproject\.toml|cargo\.toml|go\.mod|composer\.json|gemfile)$/i;
/** Made by tools, or kept from others. */
const UNSHOWN =
  /(?:^|\/)(?:[^/]*lock(?:\.\w+)?$|[^/]*\.min\.\w+$|[^/]*\.snap$|\.env|(?:dist|build|vendor|node_modules)\/)/i;
const NEWS = /^(?:changelog|changes|history|news)\.\w+$/i;
const OTHER_DOC =
  /(?:^|\/)(?:(?:agents|claude|licen[sc]e|code_of_conduct|security)\.\w+$|(?:tests?|__tests__|fixtures?|vendor|node_modules)\/)/i;

/** Whether a stage may be shown a file, by its path. */
export const isShowable = (path: string): boolean => !UNSHOWN.test(path);

/** By its path; the engine decides more exactly which files are tests. */
export const isTest = (path: string): boolean => TEST.test(path) && CODE.test(path);

export const isCodeOrTest = (path: string): boolean =>
  isShowable(path) && (CODE.test(path) || MANIFEST.test(path));

/** Code without tests. */
export const isCode = (path: string): boolean => isShowable(path) && CODE.test(path) && !isTest(path);

/** Documentation for readers, a changelog included. */
export const isDocumentation = (path: string): boolean => DOC.test(path) && !OTHER_DOC.test(path);

/** The changelog of a repository. */
export const isChangelog = (path: string): boolean => NEWS.test(path);

/** The first page of a repository. */
export const isReadme = (path: string): boolean => /^readme\.\w+$/i.test(path);

const CONFIGS: readonly RegExp[] = [
  /(?:^|\/)(?:vitest|vite|jest|ava|karma|playwright|cypress|wdio|web-test-runner|stryker|eslint|prettier|xo|stylelint|commitlint)\.(?:config|conf|workspace|setup)\.[cm]?[jt]s(?:on)?$/,
  /(?:^|\/)vitest\.workspace\.[jt]s$|(?:^|\/)(?:jest|vitest)[.-](?:setup|preset)[\w.-]*\.[cm]?[jt]s$|(?:^|\/)setupTests\.[jt]sx?$/,
  /(?:^|\/)\.(?:mocharc|eslintrc|prettierrc|stylelintrc|xo-config|nycrc|c8rc|taprc|oxlintrc|swcrc|babelrc)(?:\.[a-z]+)?$/,
  /(?:^|\/)\.(?:eslintignore|prettierignore|stylelintignore|npmrc|coveragerc|flake8|pylintrc|rspec|rubocop\.yml|golangci\.ya?ml)$/,
  /(?:^|\/)(?:biome|oxlint|deno|nx|turbo|lerna|codecov|c8|jasmine)\.jsonc?$|(?:^|\/)codecov\.ya?ml$/,
  /(?:^|\/)(?:pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|conftest\.py|mypy\.ini|ruff\.toml|\.ruff\.toml)$/,
  /(?:^|\/)(?:Makefile|GNUmakefile|justfile|Justfile|Taskfile\.ya?ml|Rakefile|build\.gradle(?:\.kts)?|pom\.xml|phpunit\.xml(?:\.dist)?|clippy\.toml|\.clippy\.toml)$/,
  /(?:^|\/)devs\.config\.json$|(?:^|\/)\.devs(?:\/|\.json$)/,
];
const CI =
  /^\.github\/(?:workflows|actions)\/|^\.gitlab-ci\.yml$|^\.circleci\/|^azure-pipelines\.ya?ml$|^\.travis\.yml$|^Jenkinsfile$|^\.husky\/|^lefthook\.ya?ml$|^\.pre-commit-config\.yaml$/;

/** Whether a file says what the checks of a project are, or how strict. */
export const isCheckConfig = (path: string): boolean => CONFIGS.some((pattern) => pattern.test(path));

/** Whether a file says what runs on a server, or before a commit. */
export const isCiConfig = (path: string): boolean => CI.test(path);

export const isTsConfig = (path: string): boolean => /(?:^|\/)[jt]sconfig(?:\.[\w-]+)?\.json$/.test(path);

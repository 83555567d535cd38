const NAMED =
  /(?:^|[./_-])(?:test|tests|spec|specs|test-d|e2e)\.[a-z]+$|(?:^|\/)test_[^/]+\.py$|(?:^|\/)test-[^/]+\.[cm]?[jt]sx?$|_test\.(?:go|py|rs|exs|dart|cc|cpp)$|_spec\.rb$|_test\.rb$|(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|php|swift|groovy)$/;
const IN_FOLDER = /(?:^|\/)(?:__tests__|tests?|specs?)\//;
const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|php|swift|exs?|scala|dart|sh|bats|vue|svelte)$/;
const MADE_FOR_TESTS = /(?:^|\/)(?:fixtures?|__fixtures__|__mocks__|mocks|helpers?|support|data)\//;

/** Whether a file holds tests, by its path. */
export function isTestFile(path: string): boolean {
  if (MADE_FOR_TESTS.test(path) || !CODE.test(path)) return false;
  return NAMED.test(path) || IN_FOLDER.test(path) || path.endsWith('.bats');
}

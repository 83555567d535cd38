import { readdir } from 'node:fs/promises';

/** A tool with checks that are not detected: its file, its name, and the command that usually tests such a project. */
const TOOLS: readonly (readonly [file: RegExp, name: string, argv: readonly string[]])[] = [
  [/^Cargo\.toml$/, 'Rust', ['cargo', 'test']],
  [/^go\.mod$/, 'Go', ['go', 'test', './...']],
  [/^deno\.jsonc?$/, 'Deno', ['deno', 'test']],
  [/^pom\.xml$/, 'Maven', ['mvn', '-q', 'test']],
  [/^(?:build|settings)\.gradle(?:\.kts)?$/, 'Gradle', ['./gradlew', 'test']],
  [/^Gemfile$/, 'Ruby', ['bundle', 'exec', 'rake', 'test']],
  [/^composer\.json$/, 'PHP', ['composer', 'test']],
  [/\.(?:sln|csproj|fsproj)$/, '.NET', ['dotnet', 'test']],
  [/^mix\.exs$/, 'Elixir', ['mix', 'test']],
  [/^Package\.swift$/, 'Swift', ['swift', 'test']],
  [/^CMakeLists\.txt$/, 'CMake', ['ctest', '--test-dir', 'build']],
  [/^(?:justfile|Justfile)$/, 'just', ['just', 'test']],
];

/** A sentence for each tool with checks that people have to name, with the setting. */
export async function otherTools(root: string): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => []);
  return TOOLS.filter(([file]) => names.some((name) => file.test(name))).map(
    ([, name, argv]) =>
      `${name}: name its checks in .devs/config.json, for example "checks": [{ "name": "test", "argv": ${JSON.stringify(argv)} }]`,
  );
}

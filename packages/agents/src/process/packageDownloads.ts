import { join } from 'node:path';

/**
 * Variables with which package managers keep their downloads in a folder. They copy packages into a project: code of the project
 * could change the original of a hard link. Bun is missing because a variable cannot turn off its links.
 */
export function packageDownloads(folder: string): Readonly<Record<string, string>> {
  return {
    npm_config_cache: join(folder, 'npm'),
    // pnpm, which takes its settings from these.
    npm_config_store_dir: join(folder, 'pnpm'),
    npm_config_package_import_method: 'copy',
    // The first version of yarn; the variable of its own is also that of a cache which later ones commit.
    npm_config_cache_folder: join(folder, 'yarn'),
    YARN_GLOBAL_FOLDER: join(folder, 'yarn-berry'),
    PIP_CACHE_DIR: join(folder, 'pip'),
    UV_CACHE_DIR: join(folder, 'uv'),
    UV_LINK_MODE: 'copy',
  };
}

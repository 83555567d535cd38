import { join } from 'node:path';

/**
 * Variables that have package managers keep their downloads in a folder. Each of them copies what it installs: of a hard link,
 * code of the project could change the original. For that reason bun is not among them, whose links no variable turns off.
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

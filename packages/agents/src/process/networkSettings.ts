import { cp, mkdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pickEnvironment } from './commandEnvironment.ts';
import type { Scratch } from './scratch.ts';

/** Proxies. Programs read either spelling. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** Files or folders with certificates of a company, by the variable that names them. */
const CERTIFICATES = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'YARN_HTTPS_CA_FILE_PATH',
  'npm_config_cafile',
  'NPM_CONFIG_CAFILE',
] as const;

/** How programs reach anything: settings without a path. */
const WAY = [...PROXIES, 'NODE_USE_SYSTEM_CA', 'NODE_USE_ENV_PROXY'] as const;

/** Where package managers fetch from, and their login there. */
const REGISTRIES = [
  ...['registry', 'proxy', 'https_proxy', 'noproxy', 'strict_ssl'].flatMap((name) => [
    `npm_config_${name}`,
    `NPM_CONFIG_${name.toUpperCase()}`,
  ]),
  ...['NPM_TOKEN', 'NODE_AUTH_TOKEN', 'COREPACK_NPM_REGISTRY', 'COREPACK_NPM_TOKEN'],
  ...[
    'YARN_REGISTRY',
    'YARN_NPM_REGISTRY_SERVER',
    'YARN_NPM_AUTH_TOKEN',
    'BUN_CONFIG_REGISTRY',
    'BUN_CONFIG_TOKEN',
  ],
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST'],
  ...['UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_NATIVE_TLS'],
  ...['GOPROXY', 'GONOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOPRIVATE'],
] as const;

/** Where package managers keep the same, below a home. */
const SETTINGS_FILES = [
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.bunfig.toml',
  '.config/pnpm/rc',
  '.config/pip/pip.conf',
  '.pip/pip.conf',
  '.config/uv/uv.toml',
  '.cargo/config.toml',
] as const;

/** Files of npm's form: they may name certificates, and variables for tokens. */
const NPM_FILES: readonly string[] = ['.npmrc', '.config/pnpm/rc'];

/** The settings of this user that a command gets if it fetches packages. */
export interface FoundNetworkSettings {
  /** Names of variables. */
  readonly variables: readonly string[];
  /** Below the home, such as `.npmrc`. */
  readonly files: readonly string[];
}

/** Which of this user's proxy, certificate and registry settings there are. */
export async function findNetworkSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<FoundNetworkSettings> {
  const files = await existing(SETTINGS_FILES);
  const named = (await npmTexts(files)).flatMap(variablesIn);
  const variables = pickEnvironment([...new Set([...WAY, ...CERTIFICATES, ...REGISTRIES, ...named])], env);
  return { variables: Object.keys(variables), files };
}

/**
 * Gives a command this user's way to the network: proxies, and copies of the certificates, which a sandbox would not show
 * where they lie.
 *
 * @returns Its variables.
 */
export async function withNetworkWay(scratch: Scratch): Promise<Readonly<Record<string, string>>> {
  return { ...pickEnvironment(WAY), ...(await copiedCertificates(pickEnvironment(CERTIFICATES), scratch)) };
}

/**
 * As {@link withNetworkWay}, and the registries of package managers: their variables, and copies of their files in the
 * command's home.
 */
export async function withNetworkSettings(scratch: Scratch): Promise<Readonly<Record<string, string>>> {
  const { files, variables: found } = await findNetworkSettings();
  for (const file of files) {
    await mkdir(dirname(join(scratch.home, file)), { recursive: true });
    await cp(join(homedir(), file), join(scratch.home, file), { dereference: true });
  }
  const cafile = (await npmTexts(files)).map(cafileIn).find((path) => path !== null);
  const named = { ...(cafile && { npm_config_cafile: cafile }), ...pickEnvironment(CERTIFICATES) };
  return { ...pickEnvironment(found), ...(await copiedCertificates(named, scratch)) };
}

async function copiedCertificates(
  named: Readonly<Record<string, string>>,
  { dir }: Scratch,
): Promise<Record<string, string>> {
  const copied: Record<string, string> = {};
  for (const [name, path] of Object.entries(named)) {
    const target = join(dir, 'certificates', name, basename(path) || 'certificates');
    await mkdir(dirname(target), { recursive: true });
    // The program that wants a missing file reports it, by the name it got.
    const isThere = await cp(resolve(path), target, { recursive: true, dereference: true }).then(
      () => true,
      () => false,
    );
    copied[name] = isThere ? target : path;
  }
  return copied;
}

async function existing(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    files.map((file) =>
      stat(join(homedir(), file)).then(
        (at) => at.isFile(),
        () => false,
      ),
    ),
  );
  return files.filter((_, at) => found[at]);
}

function npmTexts(files: readonly string[]): Promise<readonly string[]> {
  const mine = files.filter((file) => NPM_FILES.includes(file));
  return Promise.all(mine.map((file) => readFile(join(homedir(), file), 'utf8')));
}

/** `//registry.example/:_authToken=${NPM_TOKEN}`: the user's own file, so their own word. */
const variablesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\$\{([A-Za-z_]\w*)\??\}/g)].map(([, name = '']) => name);

function cafileIn(text: string): string | null {
  const path = /^[ \t]*cafile[ \t]*=[ \t]*"?([^"\n]+?)"?[ \t]*$/m.exec(text)?.[1];
  if (path === undefined) return null;
  return resolve(homedir(), path.replace(/^(?:~|\$\{HOME\})\//, ''));
}

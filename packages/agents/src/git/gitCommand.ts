import { execFile } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { pickEnvironment } from '../process/commandEnvironment.ts';

/**
 * Set on every command, whatever configuration it reads: with these no program is started. What would start one by a name
 * of its own (`filter.x.clean`, `diff.x.command`) cannot be set here; it needs a configuration that names it, and of the
 * repositories that the engine works with, its own and the user's, git reads none but ours.
 */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.sshCommand=false',
  'core.pager=cat',
  // Asked by a fetch into a repository that shares the objects of another one.
  'core.alternateRefsCommand=true',
  'fetch.bundleURI=',
  'submodule.recurse=false',
  'commit.gpgSign=false',
  'push.gpgSign=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'core.logAllRefUpdates=false',
  'core.filesRefLockTimeout=1000',
  // A repository behind a file: URL gets a branch, and no files of it.
  'receive.denyCurrentBranch=refuse',
  // What `GitIndex` reads.
  'index.version=2',
  'index.skipHash=false',
  // As many processes write a tree as there are cores.
  'checkout.workers=0',
  // Law L4: a step is recorded in the state file with the id of its tree, and a task with its commit, so both
  // must be on disk before the row is. Git flushes packs and refs but not loose objects by default. The index
  // is left out: it is rebuilt from the folder each time.
  'core.fsync=objects,reference',
];

const asArguments = (settings: readonly string[]): readonly string[] =>
  settings.flatMap((setting) => ['-c', setting]);

/** No config of the machine or of its user. */
const NO_CONFIG: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  // Objects that are missing are not fetched from where the config says.
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** Where the user's own configuration lies, and who they say they are. */
const USER = [
  ...['HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'],
  ...['USER', 'LOGNAME', 'EMAIL', 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL'],
];

/** A repository, always named and never discovered. Absolute paths. */
export interface GitPlace {
  readonly gitDir: string;
  readonly workTree: string;
  /**
   * What has the configuration, instead of the git dir: ours. @defaultValue `gitDir`, whatever a file in it says
   */
  readonly commonDir?: string | undefined;
}

export interface GitRequest {
  /** @defaultValue git looks around the folder it is started in, and reads the configuration it finds */
  readonly place?: GitPlace;
  /** `key=value`, stronger than those of the engine. */
  readonly settings?: readonly string[];
  /**
   * Reads the user's own configuration, which git tells; for commands that start no program, whatever it says.
   * @defaultValue false
   */
  readonly readsUser?: boolean;
  /** Transports git may use, `:` between them. @defaultValue none */
  readonly protocols?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command of git with its whole environment: nothing is inherited but what is named here. */
export interface GitCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Every git that the engine starts is made here: argument list, settings, environment. It starts no program that a
 * repository's configuration names, and none that the user's does but for {@link urlRequest}.
 */
export function gitCommand(args: readonly string[], request: GitRequest = {}): GitCommand {
  const { place, settings = [], readsUser = false, protocols = '', env = {} } = request;
  const places = place === undefined ? [] : [`--git-dir=${place.gitDir}`, `--work-tree=${place.workTree}`];
  return {
    argv: ['git', '--no-pager', ...places, ...asArguments([...SETTINGS, ...settings]), ...args],
    env: {
      ...pickEnvironment(['TMPDIR']),
      PATH: programs(),
      ...(readsUser ? pickEnvironment(USER) : NO_CONFIG),
      ...ENVIRONMENT,
      // By the environment: what a config says about a single one is stronger than a setting for all of them.
      GIT_ALLOW_PROTOCOL: protocols,
      // Git would read the file `commondir`, and the configuration where that leads.
      ...(place !== undefined && { GIT_COMMON_DIR: place.commonDir ?? place.gitDir }),
      ...env,
    },
  };
}

/** Folders by their names from the root: `.` would be one of the repository's. */
const programs = (): string =>
  (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => isAbsolute(folder))
    .join(':');

/**
 * Brings objects of another repository of this machine, and no ref, tag or record of the visit. The program at the other
 * end is named, and where it reads its configuration: it would not get our settings, and the config may name another one.
 */
export const fetchFrom = ({ gitDir, commonDir }: GitSource, refspec: string): readonly string[] => [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--update-shallow',
  `--upload-pack=GIT_COMMON_DIR=${quoteShell(commonDir ?? gitDir)} ${served('upload-pack --strict')}`,
  gitDir,
  refspec,
];

export type GitSource = Pick<GitPlace, 'gitDir' | 'commonDir'>;

/** None of our settings needs quotes in a shell. */
const served = (command: string): string => ['git', ...asArguments(SETTINGS), command].join(' ');

const quoteShell = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`;

/** Reaches a repository elsewhere as its user does: keys and proxies. Nothing of it comes from a run. */
const REACHING = [
  ...['HOME', 'USER', 'LOGNAME', 'SSH_AUTH_SOCK'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['all_proxy', 'GIT_SSL_CAINFO', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

/** Programs that ask or answer for a user, named by the environment. */
const ASKING = ['SSH_ASKPASS', 'SSH_ASKPASS_REQUIRE', 'DISPLAY', 'GIT_ASKPASS', 'GIT_SSH_COMMAND'];

/** Of the user's own configuration, data: no program is named in it. */
const DATA = /^(?:http\.(?!.*(?:extraheader|cookiefile|sslkey|sslcert)$)|url\.)/;

/** What gives a name and a password, or a connection that needs none: programs among them. */
const CREDENTIALS = /^(?:http\.|credential\.|core\.askpass$|ssh\.variant$)/;

/** A setting as git lists it: the name in lower case but for its middle part, and its value. */
export type GitSetting = readonly [name: string, value: string];

export interface UrlReach {
  readonly url: string;
  /** The user's own configuration, in its order. */
  readonly user: readonly GitSetting[];
  /** Whether the user's credential helpers, askpass and ssh command may be started. */
  readonly credentials: boolean;
}

/** Reaches the repository of a URL: with data of the user's own configuration, and programs of it where that was asked for. */
export function urlRequest({ url, user, credentials }: UrlReach): Pick<GitRequest, 'protocols' | 'env'> {
  const taken = user.filter(([name]) => DATA.test(name) || (credentials && CREDENTIALS.test(name)));
  const told = taken.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  const ssh = user.findLast(([name]) => name === 'core.sshcommand')?.[1];
  return {
    protocols: isOfThisMachine(url) ? 'file' : 'git:http:https:ssh',
    env: {
      ...pickEnvironment(REACHING),
      GIT_SSH_COMMAND: credentials && ssh !== undefined ? ssh : 'ssh -o BatchMode=yes',
      ...(credentials && pickEnvironment(ASKING)),
      GIT_CONFIG_COUNT: String(taken.length),
      ...Object.fromEntries(told),
    },
  };
}

/** A repository behind such a URL is a folder that this process serves itself: its hooks and its configuration with it. */
const isOfThisMachine = (url: string): boolean => url.startsWith('file:');

/** What serves the repository of a URL, as options of a command that reaches it. */
export const servedAt = (url: string, program: 'upload-pack' | 'receive-pack'): readonly string[] =>
  isOfThisMachine(url) ? [`--${program}=${served(program)}`] : [];

const execFileAsync = promisify(execFile);

/** A repository may include a file that never ends. */
const TIMEOUT_MS = 5_000;

/**
 * Runs a git command about a folder, without starting a program that its repository names.
 *
 * @returns The output of git.
 * @throws Error of `execFile` if git is missing, fails or takes longer than 5 s.
 */
export async function askGit(
  args: readonly string[],
  { cwd, ...request }: Omit<GitRequest, 'place'> & { readonly cwd: string },
): Promise<string> {
  const { argv, env } = gitCommand(args, request);
  const [file = 'git', ...rest] = argv;
  return (await execFileAsync(file, rest, { cwd, env, timeout: TIMEOUT_MS })).stdout;
}

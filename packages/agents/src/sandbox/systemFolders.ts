import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Programs and libraries. What of them is a link into another one stays a link. */
const PROGRAMS = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/gnu/store',
] as const;

/** NixOS has its programs' profile there; nothing else of `/run` is shown, there are the sockets of services. */
const PROFILE = '/run/current-system';

/**
 * What programs look up in `/etc`. Single files: beside them lie passwords, keys and other people's settings, and a driver
 * that is root could read them.
 */
const SETTINGS: readonly string[] = [
  'alternatives',
  'crypto-policies',
  'fonts',
  'group',
  'hosts',
  'ld.so.cache',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki/ca-trust',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'protocols',
  'resolv.conf',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
];

/** A JVM's own settings are links from its folder to one of these. */
const OF_A_JVM = /^java-/;

/** The processors, which a runtime counts; the rest of `/sys` tells about the machine. */
const PROCESSORS = '/sys/devices/system/cpu';

/** The system as a command sees it, read-only: arguments of bubblewrap for an empty root. */
export function systemFolders(): readonly string[] {
  const jvms = existsSync('/etc') ? readdirSync('/etc').filter((name) => OF_A_JVM.test(name)) : [];
  const settings = [...SETTINGS, ...jvms].map((name) => join('/etc', name));
  return [
    ...PROGRAMS.filter((path) => existsSync(path)).flatMap(asItIs),
    ...settings.filter((path) => existsSync(path)).flatMap(asItIs),
    ...[PROCESSORS, PROFILE].filter((path) => existsSync(path)).flatMap(readOnlyBind),
  ];
}

const readOnlyBind = (path: string): readonly string[] => ['--ro-bind-try', path, path];

/** A link into what is shown stays one: it costs no mount, and each of those costs a command a part of a millisecond. */
function asItIs(path: string): readonly string[] {
  const isLink = lstatSync(path).isSymbolicLink() && isOfTheSystem(realpathSync(path));
  return isLink ? ['--symlink', readlinkSync(path), path] : readOnlyBind(path);
}

/** Whether a real path lies in what {@link systemFolders} shows of programs. */
export const isOfTheSystem = (path: string): boolean =>
  PROGRAMS.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** A folder is inside itself. */
export const isInside = (path: string, folder: string): boolean => !relative(folder, path).startsWith('..');

/** Those that exist, without links, each once, an outer folder before an inner one. */
export function realPaths(paths: readonly string[]): readonly string[] {
  const real = paths.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(real)].sort((a, b) => a.length - b.length);
}

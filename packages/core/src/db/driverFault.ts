import { createRequire } from 'node:module';
import { DevsError } from '../errors/DevsError.ts';

const DRIVER = 'better-sqlite3';

/** What drivers up to 12 say when their installation script was not run: package managers may be told to skip them. */
const NOT_BUILT = 'Could not locate the bindings file';

/** What drivers from 13 on load where none of the builds they bring fits the machine. */
const NO_BUILD = /^Cannot find module '[^'\n]*better_sqlite3\.node'/;

/** What the `package.json` of a driver says about itself. */
export interface DriverManifest {
  readonly name?: string;
  readonly version: string;
  readonly engines?: { readonly node?: string };
}

/** The driver that a module gets; `null` where it cannot be told, as in a bundle that lies elsewhere. */
export function installedDriver(moduleUrl: string, name: string = DRIVER): DriverManifest | null {
  try {
    return createRequire(moduleUrl)(`${name}/package.json`) as DriverManifest;
  } catch {
    return null;
  }
}

/**
 * To call before the driver's native part is loaded: a Node.js that is too old for it ends with a segmentation fault.
 *
 * @param node - `process.versions.node`
 * @throws DevsError `CONFIG_INVALID`
 */
export function assertDriverFits(driver: DriverManifest | null, node: string): void {
  const least = /^>=\s*(\d+)/.exec(driver?.engines?.node ?? '')?.[1];
  if (least === undefined || Number.parseInt(node, 10) >= Number(least)) return;
  const name = driver?.name ?? DRIVER;
  throw new DevsError(`${name} ${driver?.version} needs Node.js ${least} or later; this is ${node}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Use Node.js ${least} or later, or install ${name} 12 (\`npm install ${name}@12\`).`,
  });
}

/** The driver's native part cannot be loaded, because of how it was installed; `null` for any other error. */
export function toDriverFault(error: unknown, driver: string = DRIVER): DevsError | null {
  if (!(error instanceof Error)) return null;
  if (NO_BUILD.test(error.message)) return withoutBuild(error, driver);
  const isOfAnotherNode = 'code' in error && error.code === 'ERR_DLOPEN_FAILED';
  if (!isOfAnotherNode && !error.message.startsWith(NOT_BUILT)) return null;
  const why = isOfAnotherNode
    ? 'was built for another Node.js version or machine'
    : 'was installed without its build';
  return new DevsError(`${driver} ${why}; this is Node.js ${process.version}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Run \`npm rebuild ${driver}\` (or \`pnpm rebuild ${driver}\`) with this Node.js, or reinstall.`,
    cause: error,
  });
}

function withoutBuild(error: Error, driver: string): DevsError {
  return new DevsError(`${driver} has no build for this machine (${process.platform} ${process.arch}).`, {
    code: 'CONFIG_INVALID',
    remedy: `Compile it once: \`npm run build-release\` in the folder node_modules/${driver}, with node-gyp and a C++ compiler.`,
    cause: error,
  });
}

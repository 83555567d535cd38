import type { ProjectConfigInput } from '../config/ProjectConfig.ts';
import { repositoryAround } from '../config/repositoryAround.ts';
import { hasScript, type PackageJson, readPackageJson } from './packageJson.ts';
import { installCommand, type PackageManager, packageManagerOf } from './packageManager.ts';
import { scriptPieces } from './scriptPieces.ts';
import { workspacePackages } from './workspacePackages.ts';

type Check = NonNullable<ProjectConfigInput['checks']>[number];

/** What was found in a folder, and the configuration that follows from it. */
export interface DetectedProject {
  readonly isRepository: boolean;
  /** Top folder of the repository that the folder lies in, where that is another one. */
  readonly inRepository: string | null;
  /** `null` without a `package.json`. */
  readonly packageManager: PackageManager | null;
  /** Folders of the packages of a monorepo, relative. */
  readonly packages: readonly string[];
  readonly config: Pick<ProjectConfigInput, 'setup' | 'checks'>;
}

/**
 * Looks for git, the package manager, workspaces and the scripts that judge the work.
 *
 * @throws DevsError `CONFIG_INVALID` when a manifest cannot be read as one.
 */
export async function detectProject(root: string): Promise<DetectedProject> {
  const around = repositoryAround(root);
  const isRepository = around === root;
  const git = { isRepository, inRepository: isRepository ? null : around };
  const manifest = await readPackageJson(root);
  if (manifest === null) return { ...git, packageManager: null, packages: [], config: { checks: [] } };

  const packageManager = packageManagerOf(root, manifest);
  const check = (each: PackageJson, script: string, { name, dir }: CheckFolder): readonly Check[] =>
    hasScript(each, script) ? [{ name, dir, argv: [packageManager, 'run', script] }] : [];
  const packages = await workspacePackages(root, manifest);
  const perPackage = packages.flatMap(({ dir, manifest: each }) =>
    check(each, 'test', { name: each.name ?? dir, dir }),
  );
  // Each package says what failed; a script of the root that tests all of them says only that something did.
  const own = hasScript(manifest, 'test') ? scriptPieces(manifest, 'test', packageManager) : null;
  const whole = (): readonly Check[] => check(manifest, 'test', { name: 'test', dir: '.' });
  const parts = own?.map(({ name, argv }) => ({ name, dir: '.', argv: [...argv] })) ?? whole();
  const tests = perPackage.length > 0 ? perPackage : parts;
  const checks = [...tests, ...check(manifest, 'lint', { name: 'lint', dir: '.' })];
  const needsInstall = packages.length > 0 || hasDependencies(manifest);
  return {
    ...git,
    packageManager,
    packages: packages.map(({ dir }) => dir),
    config: { ...(needsInstall && { setup: [...installCommand(root, packageManager)] }), checks },
  };
}

type CheckFolder = Pick<Check, 'name'> & { readonly dir: string };

function hasDependencies({ dependencies = {}, devDependencies = {} }: PackageJson): boolean {
  return Object.keys(dependencies).length + Object.keys(devDependencies).length > 0;
}

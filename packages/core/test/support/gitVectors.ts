import { appendFileSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// What git's documentation names as a way to have a program started: settings, hooks, attributes, variables. In a text, `$T`
// is the program, which leaves a mark of the vector's name, `$R` the repository.

/** Of githooks(5). */
export const GIT_HOOKS = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'p4-changelist',
  'p4-post-changelist',
  'p4-pre-submit',
  'p4-prepare-changelist',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
] as const;

/** Of git-config(1) and the pages it names; each lets a repository name a program, or leads to one that does. */
export const GIT_SETTINGS: Readonly<Record<string, string>> = {
  'alias-of-a-command':
    '[alias]\n\tfetch = !$T\n\tupdate-ref = !$T\n\tworktree = !$T\n\tls-files = !$T\n\tstatus = !$T\n',
  'alias-of-its-own': '[alias]\n\trewind = !$T\n',
  'browser-cmd': '[browser "x"]\n\tcmd = $T\n[web]\n\tbrowser = x\n[help]\n\tbrowser = x\n',
  'browser-path': '[browser "firefox"]\n\tpath = $T\n',
  'core-alternateRefsCommand': '[core]\n\talternateRefsCommand = $T\n',
  'core-askPass': '[core]\n\taskPass = $T\n',
  'core-editor': '[core]\n\teditor = $T\n',
  'core-fsmonitor': '[core]\n\tfsmonitor = $T\n\tfsmonitorHookVersion = 1\n',
  'core-gitProxy': '[core]\n\tgitProxy = $T\n',
  'core-pager': '[core]\n\tpager = $T\n',
  'core-sshCommand': '[core]\n\tsshCommand = $T\n[ssh]\n\tvariant = ssh\n',
  'credential-helper': '[credential]\n\thelper = !$T\n',
  'credential-url-helper': '[credential "https://localhost"]\n\thelper = $T\n',
  'diff-external': '[diff]\n\texternal = $T\n\ttrustExitCode = true\n',
  'diff-driver-command': '[diff "x"]\n\tcommand = $T\n',
  'diff-driver-textconv': '[diff "x"]\n\ttextconv = $T\n\tcachetextconv = true\n',
  'difftool-cmd': '[difftool "x"]\n\tcmd = $T\n[diff]\n\ttool = x\n\tguitool = x\n',
  'difftool-path': '[difftool "vimdiff"]\n\tpath = $T\n',
  'filter-clean': '[filter "x"]\n\tclean = $T\n\trequired = true\n',
  'filter-smudge': '[filter "x"]\n\tsmudge = $T\n',
  'filter-process': '[filter "y"]\n\tprocess = $T\n\trequired = true\n',
  'filter-lfs':
    '[filter "lfs"]\n\tclean = $T\n\tsmudge = $T\n\tprocess = $T\n\trequired = true\n[lfs]\n\tfetchinclude = *\n',
  'gc-recentObjectsHook': '[gc]\n\trecentObjectsHook = $T\n\tauto = 1\n\tautoDetach = false\n',
  'gpg-program':
    '[gpg]\n\tprogram = $T\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n[push]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[user]\n\tsigningKey = x\n',
  'gpg-openpgp-program': '[gpg "openpgp"]\n\tprogram = $T\n',
  'gpg-x509-program': '[gpg "x509"]\n\tprogram = $T\n',
  'gpg-ssh-program': '[gpg "ssh"]\n\tprogram = $T\n',
  'gpg-ssh-defaultKeyCommand': '[gpg "ssh"]\n\tdefaultKeyCommand = $T\n',
  'guitool-cmd': '[guitool "x"]\n\tcmd = $T\n',
  'hook-command':
    '[hook "x"]\n\tcommand = $T\n\tevent = reference-transaction\n\tevent = post-index-change\n\tevent = pre-push\n',
  'imap-tunnel': '[imap]\n\ttunnel = $T\n',
  'init-templateDir': '[init]\n\ttemplateDir = $R/.git\n',
  instaweb: '[instaweb]\n\thttpd = $T\n\tbrowser = $T\n',
  'interactive-diffFilter': '[interactive]\n\tdiffFilter = $T\n',
  maintenance: '[maintenance]\n\tauto = true\n\tstrategy = incremental\n[gc]\n\tautoPackLimit = 1\n',
  'man-cmd': '[man "x"]\n\tcmd = $T\n[man]\n\tviewer = x\n',
  'man-path': '[man "woman"]\n\tpath = $T\n',
  'merge-driver': '[merge]\n\tdefault = x\n[merge "x"]\n\tdriver = $T %A\n\trecursive = binary\n',
  'mergetool-cmd': '[mergetool "x"]\n\tcmd = $T\n[merge]\n\ttool = x\n\tguitool = x\n',
  'mergetool-path': '[mergetool "vimdiff"]\n\tpath = $T\n',
  'pager-of-a-command':
    '[pager]\n\tfetch = $T\n\tls-tree = $T\n\trev-parse = $T\n\tvar = $T\n\tworktree = $T\n\tconfig = $T\n\tls-files = $T\n\tstatus = $T\n',
  'protocol-ext':
    '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n[protocol "file"]\n\tallow = always\n',
  'receive-procReceiveRefs':
    '[receive]\n\tprocReceiveRefs = refs/heads\n\tdenyCurrentBranch = updateInstead\n\tautogc = true\n',
  'remote-uploadpack': '[remote "origin"]\n\turl = $R\n\tuploadpack = $T; git-upload-pack\n',
  'remote-receivepack': '[remote "origin"]\n\treceivepack = $T\n\tmirror = true\n',
  'remote-vcs': '[remote "other"]\n\turl = x\n\tvcs = ext::$T\n',
  'remote-proxy': '[remote "origin"]\n\tproxy = ext::$T\n[http]\n\tproxy = ext::$T\n',
  'sendemail-cmd': '[sendemail]\n\ttoCmd = $T\n\tccCmd = $T\n\theaderCmd = $T\n',
  'sendemail-sendmailCmd': '[sendemail]\n\tsendmailCmd = $T\n\tsmtpServer = $T\n',
  'sequence-editor': '[sequence]\n\teditor = $T\n[rebase]\n\tabbreviateCommands = true\n',
  'submodule-update':
    '[submodule]\n\trecurse = true\n[submodule "x"]\n\tactive = true\n\turl = ext::$T\n\tupdate = !$T\n',
  'trailer-command': '[trailer]\n\tifmissing = add\n[trailer "x"]\n\tkey = X\n\tcommand = $T\n',
  'trailer-cmd': '[trailer "y"]\n\tkey = Y\n\tcmd = $T\n',
  'uploadpack-packObjectsHook': '[uploadpack]\n\tpackObjectsHook = $T\n\tallowFilter = true\n',
  'url-insteadOf': '[url "ext::$T "]\n\tinsteadOf = /\n\tinsteadOf = file:\n',
  'url-pushInsteadOf': '[url "ext::$T push "]\n\tpushInsteadOf = /\n\tpushInsteadOf = file:\n',
  'partial-clone':
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = promised\n[remote "promised"]\n\turl = $R\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\tuploadpack = $T\n',
  'core-worktree': '[core]\n\tworktree = /\n',
  'core-splitIndex':
    '[core]\n\tuntrackedCache = true\n[feature]\n\tmanyFiles = true\n[status]\n\tsubmoduleSummary = true\n',
  'worktree-config': '[extensions]\n\tworktreeConfig = true\n',
};

/** Files of a work tree by which attributes name the drivers above, and submodules commands. */
export const GIT_FILES: Readonly<Record<string, string>> = {
  '.gitattributes': '* diff=x merge=x filter=x\nb.txt filter=y\n*.bin filter=lfs\n',
  '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::$T\n\tupdate = !$T\n',
};

/** Files of a git dir that lead git to other places. */
export const GIT_DIR_FILES: Readonly<Record<string, string>> = {
  'info/attributes': '* diff=x merge=x\n',
  'info/grafts': '',
  'remotes/origin': 'URL: ext::$T\n',
  'branches/x': 'ext::$T\n',
  'objects/info/http-alternates': 'ext::$T\n',
};

/** Variables of git(1) and its pages that name a program, or a place that does. */
export const GIT_VARIABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...[
        'GIT_SSH',
        'GIT_SSH_COMMAND',
        'GIT_EXTERNAL_DIFF',
        'GIT_PAGER',
        'GIT_EDITOR',
        'GIT_ASKPASS',
        'PAGER',
      ],
      ...['GIT_SEQUENCE_EDITOR', 'GIT_PROXY_COMMAND', 'SSH_ASKPASS', 'EDITOR', 'VISUAL', 'GIT_MAN_VIEWER'],
    ].map((name) => [name, '$T']),
  ),
  GIT_EXEC_PATH: '$R/bin',
  GIT_TEMPLATE_DIR: '$R/.git',
  GIT_CONFIG: '$R/.git/config',
  GIT_CONFIG_PARAMETERS: "'core.fsmonitor=$T'",
  GIT_DIR: '$R/.git',
  GIT_COMMON_DIR: '$R/.git',
  GIT_WORK_TREE: '/',
  GIT_INDEX_FILE: '$R/.git/none',
  GIT_OBJECT_DIRECTORY: '$R/.git/none',
  GIT_ATTR_SOURCE: 'HEAD',
  GIT_ALLOW_PROTOCOL: 'ext:file',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: '$T',
  GIT_CONFIG_KEY_1: 'core.alternateRefsCommand',
  GIT_CONFIG_VALUE_1: '$T',
};

/** Programs that tell, by a mark each, that they were started. */
export class GitTraps {
  readonly #programs: string;
  readonly #marks: string;

  constructor(base: string) {
    [this.#programs, this.#marks] = [join(realpathSync(base), 'traps'), join(realpathSync(base), 'marks')];
    for (const folder of [this.#programs, this.#marks]) mkdirSync(folder);
  }

  /** Names of the vectors whose program ran. */
  get ran(): readonly string[] {
    return readdirSync(this.#marks).toSorted();
  }

  /** How many programs wait. */
  get planted(): number {
    return readdirSync(this.#programs).length;
  }

  /** A program; it reads nothing and says nothing, so that nobody waits for it. */
  program(name: string): string {
    const path = join(this.#programs, name);
    const mark = join(this.#marks, name);
    writeFileSync(path, `#!/bin/sh\ntouch '${mark}'\nexit 0\n`, { mode: 0o755 });
    return path;
  }

  /** @param repository - `$R`. */
  text(name: string, text: string, repository: string): string {
    return text.replaceAll('$T', this.program(name)).replaceAll('$R', repository);
  }

  /** Every setting, in one configuration. @param except - Names of those that are left out. */
  config(repository: string, except: readonly string[] = []): string {
    const settings = Object.entries(GIT_SETTINGS).filter(([name]) => !except.includes(name));
    return settings.map(([name, text]) => this.text(name, text, repository)).join('');
  }

  plantHooks(folder: string, prefix = 'hook-'): void {
    mkdirSync(folder, { recursive: true });
    for (const hook of GIT_HOOKS) {
      const text = `#!/bin/sh\nexec '${this.program(`${prefix}${hook}`)}'\n`;
      writeFileSync(join(folder, hook), text, { mode: 0o755 });
    }
  }

  plantFiles(root: string, files: Readonly<Record<string, string>>, repository: string): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      const name = `file-${path.replaceAll(/[^\w-]/g, '-')}`;
      writeFileSync(join(root, path), this.text(name, text, repository));
    }
  }

  /**
   * All that a git dir can have, and all settings in one place: the configuration itself, a file that it includes, or that of
   * a work tree. By hand: git itself would start what is planted.
   */
  plantGitDir(
    gitDir: string,
    repository: string,
    where: 'config' | 'included' | 'worktree' = 'config',
  ): void {
    this.plantHooks(join(gitDir, 'hooks'));
    this.plantHooks(join(gitDir, 'more-hooks'), 'hooksPath-');
    this.plantFiles(gitDir, GIT_DIR_FILES, repository);
    const elsewhere = join(gitDir, where === 'worktree' ? 'config.worktree' : 'more-config');
    const leads =
      where === 'worktree' ? GIT_SETTINGS['worktree-config'] : INCLUDES.replaceAll('$F', elsewhere);
    const settings = `${this.config(repository)}[core]\n\thooksPath = ${gitDir}/more-hooks\n`;
    appendFileSync(join(gitDir, 'config'), where === 'config' ? settings : (leads ?? ''));
    if (where !== 'config') writeFileSync(elsewhere, settings);
  }
}

const INCLUDES = [
  ...[
    'include',
    'includeIf "gitdir:/**"',
    'includeIf "onbranch:**"',
    'includeIf "hasconfig:remote.*.url:**"',
  ],
]
  .map((section) => `[${section}]\n\tpath = $F\n`)
  .join('');

// A hostile check that tries one way out of the sandbox: `escape.mjs WAY`, beside facts.json.
// Prints `escaped` or `held: REASON`; what it leaves outside is looked at from outside.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';

const [program = '', way = ''] = process.argv.slice(1);
const isHere = basename(program) === 'escape.mjs';
const facts = isHere ? JSON.parse(readFileSync('facts.json', 'utf8')) : { project: '' };
const stateFile = join(facts.project, '.devs', 'state.sqlite');

const reads = (file) => readFileSync(file).length > 0;
const writes = (file) => {
  writeFileSync(file, 'escaped');
  // What a private folder takes in is gone with it; the rig looks for the file outside.
  return false;
};
const runs = (file, ...args) => {
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 10_000 });
  return true;
};
const connects = (...address) =>
  new Promise((resolve, reject) => {
    const socket = connect(...address);
    socket.once('connect', () => resolve(true)).once('error', reject);
  });
const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));
const seen = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

export const WAYS = {
  'reads the state file': () => reads(stateFile),
  'writes beside the state file': () => writes(join(facts.project, '.devs', facts.marker)),
  "reads the engine's git store": () => reads(join(facts.project, '.devs', 'git', 'victim.git', 'HEAD')),
  "reads the user's checkout": () => reads(join(facts.project, '.env')),
  "writes into the user's checkout": () => writes(join(facts.project, facts.marker)),
  'reads the workspace of another run': () => reads(join(facts.project, '.devs-work', 'other', 'a.txt')),
  'reads a key in the home of the user': () => reads(join(facts.home, '.ssh', 'id_rsa')),
  'writes into the home of the user': () => writes(join(facts.home, facts.marker)),
  'writes into /etc': () => writes(join('/etc', facts.marker)),
  'writes a program onto the PATH': () => writes(join('/usr/bin', facts.marker)),
  'reads data in /srv': () => reads(join('/srv', facts.elsewhere, 'data')),
  "reads another project's state file": () => reads(join('/srv', facts.elsewhere, '.devs', 'state.sqlite')),
  'reads data in /var/lib': () => reads(join('/var/lib', facts.elsewhere, 'data')),
  'reads what lies in /opt': () => reads(join('/opt', facts.elsewhere, 'data')),
  'reads the hashes of passwords': () => reads('/etc/shadow'),
  'reads the private keys of the system': () => readdirSync('/etc/ssl/private').length >= 0,
  'reads the schedule of the system': () => reads('/etc/crontab'),
  'writes into the root': () => writes(join('/', facts.marker)) || existsSync(join('/', facts.marker)),
  'reads a temporary file of somebody else': () => reads(facts.secretFile),
  'writes into /tmp': () => writes(join('/tmp', facts.marker)),
  'writes into /dev/shm': () => writes(join('/dev/shm', facts.marker)),
  'sees other processes': () => processes().some((id) => seen(`/proc/${id}/cmdline`).includes(facts.victim)),
  'reads the environment of other processes': () =>
    processes().some((id) => seen(`/proc/${id}/environ`).includes(facts.secret)),
  'finds secrets in its own environment': () => JSON.stringify(process.env).includes(facts.secret),
  'ends a process outside': () => {
    process.kill(facts.victimPid, 'SIGKILL');
    return false;
  },
  'ends every process it can': () => {
    process.kill(-1, 'SIGKILL');
    return false;
  },
  'connects to a server on this machine': () => connects(facts.port, '127.0.0.1'),
  'connects to a socket in /tmp': () => connects(facts.socket),
  'connects to a socket in /run': () => connects(join('/run', `${facts.elsewhere}.sock`)),
  'connects to an abstract socket': () => connects(`\0${facts.abstract}`),
  'follows a link to the state file': () => {
    symlinkSync(stateFile, 'state-link');
    return reads('state-link');
  },
  'links a key into the workspace': () => {
    linkSync(join(facts.home, '.ssh', 'id_rsa'), 'key-link');
    return true;
  },
  'goes through the root of the first process': () => reads(join('/proc/1/root', stateFile)),
  'goes through a file that was left open': () =>
    readdirSync('/proc/self/fd').some((id) => {
      const target = existsSync(`/proc/self/fd/${id}`) ? readlinkSync(`/proc/self/fd/${id}`) : '';
      return target.startsWith(facts.project) && !target.startsWith(process.cwd());
    }),
  'enters the namespaces of the first process': () =>
    runs('nsenter', '-t', '1', '-m', '-p', 'cat', stateFile),
  'takes the cover away in a namespace of its own': () =>
    runs('unshare', '-Urm', 'sh', '-c', `umount '${facts.project}/.devs'; cat '${stateFile}'`),
  'mounts everything anew in a sandbox of its own': () =>
    runs('bwrap', '--bind', '/', '/', '--dev', '/dev', 'cat', stateFile),
  'makes the system writable': () => runs('mount', '-o', 'remount,rw,bind', '/'),
  'changes its root': () => runs('chroot', '/', 'true'),
  'sets a kernel setting': () => {
    writeFileSync('/proc/sys/kernel/core_pattern', readFileSync('/proc/sys/kernel/core_pattern'));
    return true;
  },
  'writes to the kernel through /sys': () => {
    openSync('/sys/kernel/mm/transparent_hugepage/enabled', 'r+');
    return true;
  },
  'makes a device': () => runs('mknod', 'device', 'b', '7', '0'),
  'leaves a process of another session behind': () => {
    const child = spawn(
      'setsid',
      ['-f', process.execPath, '-e', 'setInterval(() => {}, 1000)', facts.daemon],
      {
        detached: true,
        stdio: 'ignore',
      },
    );
    child.unref();
    return false;
  },
};

if (isHere) {
  let outcome;
  try {
    outcome = (await WAYS[way]()) ? 'escaped' : 'held: it was let, to no effect';
  } catch (error) {
    outcome = `held: ${error.code ?? String(error.message).split('\n')[0]}`;
  }
  process.stdout.write(`${outcome}\n`);
  process.exit(0);
}

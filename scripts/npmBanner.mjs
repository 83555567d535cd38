// Before a script starts, npm up to 11 prints two lines about it to the same stdout: `npm test -- --reporter=json > FILE`
// would leave them in front of the JSON. npm has no setting that moves them and leaves its errors as they are.
import { fstatSync, writeSync } from 'node:fs';

/** npm prints the package with its version, or the script alone where that has none. */
function bannersOf(
  args,
  { npm_package_name, npm_package_version, npm_lifecycle_event, npm_lifecycle_script },
) {
  const script = [npm_lifecycle_script, ...args].join(' ');
  const packages = ['', `${npm_package_name}@${npm_package_version ?? ''} `];
  return packages.map((of) => `\n> ${of}${npm_lifecycle_event}\n> ${script}\n\n`);
}

/**
 * How many bytes of npm's banner a file holds, and nothing else: 0 for a pipe or a terminal, where it is printed by now, and
 * for a file that was not empty.
 */
export function bannerIn(fd, args, env) {
  const stat = fstatSync(fd);
  if (!stat.isFile() || env.npm_lifecycle_event === undefined) return 0;
  return bannersOf(args, env).some((text) => Buffer.byteLength(text) === stat.size) ? stat.size : 0;
}

/**
 * Writes what comes out of `output` over the first `banner` bytes of the file and then on: whatever else writes through the
 * same file descriptor goes on behind it. Less than that is filled up with spaces.
 */
export function overwrite(fd, banner, output) {
  let written = 0;
  output.on('data', (chunk) => {
    const over = chunk.subarray(0, Math.max(banner - written, 0));
    if (over.length > 0) writeSync(fd, over, 0, over.length, written);
    if (over.length < chunk.length) writeSync(fd, chunk, over.length);
    written += chunk.length;
  });
  output.on('end', () => {
    const left = Buffer.alloc(Math.max(banner - written, 0), ' ');
    if (left.length > 0) writeSync(fd, left, 0, left.length, written);
  });
}

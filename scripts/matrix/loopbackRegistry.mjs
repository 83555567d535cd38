// A registry on loopback: serves packed tarballs as published packages; anything else is asked of the upstream registry.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { packedManifest } from '../packAll.mjs';

function packageOf(tarball) {
  const bytes = readFileSync(tarball);
  const digest = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding);
  return {
    manifest: JSON.parse(packedManifest(tarball)),
    bytes,
    sha1: digest('sha1', 'hex'),
    sha512: digest('sha512', 'base64'),
  };
}

function packumentOf({ manifest, sha1, sha512 }, host) {
  const { name, version } = manifest;
  const tarball = `http://${host}/${name}/-/${version}.tgz`;
  const dist = { tarball, shasum: sha1, integrity: `sha512-${sha512}` };
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

/**
 * @param tarballs - Paths; one version of each package.
 * @param upstream - URL of the registry that has the rest.
 * @returns `{ url, close }`
 */
export async function serveRegistry(tarballs, upstream) {
  const packages = new Map(tarballs.map(packageOf).map((each) => [each.manifest.name, each]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname).slice(1);
    const [name, file] = path.split('/-/');
    const found = packages.get(name);
    if (request.method !== 'GET' && request.method !== 'HEAD') response.writeHead(405).end();
    else if (found === undefined)
      response.writeHead(302, { location: new URL(request.url.slice(1), upstream).href }).end();
    else if (file === undefined) response.end(JSON.stringify(packumentOf(found, request.headers.host)));
    else response.end(found.bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

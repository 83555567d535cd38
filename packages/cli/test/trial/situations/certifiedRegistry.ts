import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { certified } from '../../support/certified.ts';

/** A registry of packages that only a company's certificate makes trusted. */
export interface CertifiedRegistry {
  readonly url: string;
  /** The certificate of the company, a file. */
  readonly ca: string;
  /** Tarballs that were fetched. */
  readonly fetched: () => number;
  readonly stop: () => Promise<void>;
}

const VERSION = '1.0.0';

/** Serves one package on loopback, under a certificate that a new authority signed. Needs openssl and tar. */
export async function certifiedRegistry(
  dir: string,
  { name, source }: { readonly name: string; readonly source: string },
): Promise<CertifiedRegistry> {
  const tarball = packed(dir, name, source);
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  let fetched = 0;
  const certificate = certified(dir);
  const server = createServer(certificate, (request, response) => {
    if (request.url?.endsWith('.tgz') === true) {
      fetched += 1;
      response.end(tarball);
      return;
    }
    if (request.url !== `/${name}`) {
      response.writeHead(404).end('{}');
      return;
    }
    const dist = { tarball: `${url}${name}-${VERSION}.tgz`, integrity };
    const versions = { [VERSION]: { name, version: VERSION, main: 'index.js', dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest: VERSION }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    ca: certificate.ca,
    fetched: () => fetched,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function packed(dir: string, name: string, source: string): Buffer {
  const folder = join(dir, 'package');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: VERSION, main: 'index.js' }));
  writeFileSync(join(folder, 'index.js'), source);
  execFileSync('tar', ['czf', 'package.tgz', 'package'], { cwd: dir });
  return readFileSync(join(dir, 'package.tgz'));
}

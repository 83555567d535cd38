import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { env } from 'node:process';
import { certified } from './certified.ts';

/** Repositories over HTTPS on loopback, by git's own `http-backend`, for who has the password. */
export class GitServer {
  readonly #server: Server;
  /** File of the authority that its certificate is signed by. */
  readonly ca: string;
  /** `authorization` of each request; `null` for one without. */
  readonly authorizations: (string | null)[] = [];

  private constructor(dir: string, repositories: string, password: string) {
    const certificate = certified(dir);
    this.ca = certificate.ca;
    const wanted = `Basic ${Buffer.from(`x-access-token:${password}`).toString('base64')}`;
    this.#server = createServer(certificate, (request, response) => {
      const { authorization = null } = request.headers;
      this.authorizations.push(authorization);
      if (authorization === wanted) serve(request, response, repositories);
      else response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    });
  }

  /** @param dir - An empty folder for its certificate. @param repositories - A folder of bare repositories. */
  static async start(dir: string, repositories: string, password: string): Promise<GitServer> {
    const server = new GitServer(dir, repositories, password);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** As CGI has it. */
function serve(request: IncomingMessage, response: ServerResponse, repositories: string): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://localhost');
  const { headers, method = 'GET' } = request;
  const child = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: env['PATH'],
      ...{ GIT_PROJECT_ROOT: repositories, GIT_HTTP_EXPORT_ALL: '1', GIT_CONFIG_NOSYSTEM: '1' },
      ...{ PATH_INFO: pathname, QUERY_STRING: searchParams.toString(), REQUEST_METHOD: method },
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      GIT_PROTOCOL: headers['git-protocol'] as string | undefined,
    },
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {}); // it has read enough
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const lines = answer.subarray(0, end).toString().split('\r\n');
    const fields = lines.map((line) => /^([^:]+): *(.*)$/.exec(line) ?? []);
    const status = fields.find(([, name]) => name === 'Status')?.[2] ?? '200';
    for (const [, name = '', value = ''] of fields) if (name !== 'Status') response.setHeader(name, value);
    response.writeHead(Number.parseInt(status, 10)).end(answer.subarray(end + 4));
  });
}

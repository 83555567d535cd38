// 8000 8080 8081    hands each connection on port 8000 to the next of the others that answers
import { connect, createServer, type Server, type Socket } from 'node:net';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

/** A proxy without a memory: whichever process takes a connection, the state file is the same. */
export function proxy(ports: readonly number[]): Server {
  let turn = 0;
  const pipeTo = (client: Socket, left: number): void => {
    let isOpen = false;
    const upstream = connect(ports[turn++ % ports.length] as number, '127.0.0.1', () => {
      isOpen = true;
      client.pipe(upstream).pipe(client);
    });
    upstream.once('error', () => (isOpen || left === 1 ? client.destroy() : pipeTo(client, left - 1)));
    upstream.once('close', () => isOpen && client.destroy());
    client.once('close', () => upstream.destroy());
  };
  return createServer((client) => {
    client.once('error', () => client.destroy());
    pipeTo(client, ports.length);
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [own = 8000, ...others] = argv.slice(2).map(Number);
  proxy(others).listen(own, '127.0.0.1');
}

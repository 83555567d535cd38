import { connect, createServer, type Socket } from 'node:net';

/**
 * A port that leads to one of several, in turn: what stands before the servers of a cluster. While there is none, it holds what
 * comes: a stock client gives up after a few attempts, and how long a process takes to start is not what is tested.
 */
export interface Balancer {
  readonly port: number;
  close(): void;
}

const AGAIN_MS = 25;

/** @param ports - Of the servers; one that answers nobody is passed over. */
export function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;
  const lead = (from: Socket, left: readonly number[]): void => {
    const [port, ...others] = left;
    if (port === undefined) {
      setTimeout(() => !from.destroyed && lead(from, inTurn()), AGAIN_MS);
      return;
    }
    const to = connect(port, '127.0.0.1');
    to.once('connect', () => {
      open.add(to);
      to.on('error', () => from.destroy());
      to.on('close', () => {
        open.delete(to);
        from.destroy();
      });
      from.pipe(to);
      to.pipe(from);
      from.on('close', () => to.destroy());
    });
    to.once('error', () => {
      if (!open.has(to)) lead(from, others);
    });
  };
  const inTurn = (): readonly number[] => {
    const all = ports();
    turn += 1;
    return [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
  };
  const server = createServer((from) => {
    open.add(from);
    from.on('close', () => open.delete(from));
    from.on('error', () => from.destroy());
    lead(from, inTurn());
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('Expected a port.');
      resolve({
        port: address.port,
        close: () => {
          for (const socket of open) socket.destroy();
          server.close();
        },
      });
    });
  });
}

import { connect, createServer } from 'node:net';

/** Addresses that nothing of ours may ever reach. */
export const CANARY_ADDRESSES = [
  '127.0.0.1',
  '127.8.8.8',
  '127.255.255.254',
  '10.0.0.1',
  '10.255.255.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.254',
  '192.0.0.192',
  '192.168.0.1',
  '192.168.255.254',
  '198.18.0.1',
  '203.0.113.1',
  '::1',
  'fd00:ec2::254',
  'fc00::1',
  'fec0::1',
  '64:ff9b::a00:1',
  '2002:a00:1::1',
  '2001:db8::1',
  '2001:0:a00:1::1',
];

export const CANARY_PORTS = [80, 443, 8443];

/** Servers on all of them that count their connections. They end with the process. */
export class Canaries {
  hits: string[] = [];

  async listen(): Promise<void> {
    for (const address of CANARY_ADDRESSES) {
      for (const port of CANARY_PORTS) {
        const server = createServer((socket) => {
          this.hits.push(`${address} ${port}`);
          socket.on('error', () => {});
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ncanary');
        });
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject).listen(port, address, resolve);
        });
      }
    }
  }

  /** Reaches each without the gate, to prove that they work. Returns how many were hit, and resets the counts. */
  async prove(): Promise<number> {
    for (const address of CANARY_ADDRESSES) {
      for (const port of CANARY_PORTS) {
        await new Promise((resolve, reject) => {
          connect(port, address).on('close', resolve).on('error', reject).resume();
        });
      }
    }
    const { length } = new Set(this.hits).size === this.hits.length ? this.hits : [];
    this.hits = [];
    return length;
  }
}
